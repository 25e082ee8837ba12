import type { ReactNode } from "react";
import styles from "./ui.module.css";

type TableProps<Row> = {
  rows: readonly Row[];
  /** Each column's title, and the function that renders its cell. */
  columns: readonly (readonly [title: string, cell: (row: Row) => ReactNode])[];
  /** The text shown instead of an empty table. */
  emptyText?: string;
};

/** A table. On narrow screens, each row becomes a small card. */
export const Table = <Row extends { id: string }>({ rows, columns, emptyText }: TableProps<Row>) =>
  rows.length === 0 && emptyText !== undefined ? (
    <p className={styles["quiet"]}>{emptyText}</p>
  ) : (
    <table className={styles["table"]}>
      <thead>
        <tr>
          {columns.map(([title]) => (
            <th key={title}>{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            {columns.map(([title, cell]) => (
              <td key={title} data-label={title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
