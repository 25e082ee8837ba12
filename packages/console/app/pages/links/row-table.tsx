import type { ReactNode } from "react";
import { Link } from "react-router";
import uiStyles from "../../ui/ui.module.css";
import styles from "./links.module.css";
import { texts } from "./texts.ts";

type Row = {
  id: string;
  /** The view that the row opens. */
  to: string;
  description: string | null;
  amount: string;
  /** What differs from the amount, such as a part that was paid. */
  note?: string | undefined;
  status: ReactNode;
  date: string;
};

/**
 * A table whose rows are links. The link in the first cell covers the whole row, so that every
 * click, also with the middle button, opens it. On narrow screens, each row has two lines.
 */
export const RowTable = ({ rows, dateTitle }: { rows: readonly Row[]; dateTitle: string }) => (
  <table className={styles["rows"]}>
    <thead>
      <tr>
        <th>{texts.description}</th>
        <th className={styles["amount"]}>{texts.amount}</th>
        <th>{texts.status}</th>
        <th>{dateTitle}</th>
      </tr>
    </thead>
    <tbody>
      {rows.map(({ id, to, description, amount, note, status, date }) => (
        <tr key={id}>
          <td>
            <Link className={styles["rowLink"]} to={to}>
              {description === null || description.trim() === "" ? (
                <span className={uiStyles["quiet"]}>{texts.noDescription}</span>
              ) : (
                <bdi className={styles["oneLine"]}>{description}</bdi>
              )}
            </Link>
          </td>
          <td className={styles["amount"]}>
            {amount}
            {note !== undefined && <small className={styles["note"]}>{note}</small>}
          </td>
          <td>{status}</td>
          <td className={styles["date"]}>{date}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
