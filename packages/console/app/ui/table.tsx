import type { ReactNode } from "react";
import styles from "./ui.module.css";

/**
 * What a column contains. `numeric` is aligned to the right, `date` does not wrap, and `actions`
 * has a title only for screen readers.
 */
type ColumnKind = "numeric" | "date" | "actions";

type Column<Row> = readonly [title: string, cell: (row: Row) => ReactNode, kind?: ColumnKind];

type TableProps<Row> = {
  rows: readonly Row[];
  /** Each column's title, the function that renders its cell, and its kind. */
  columns: readonly Column<Row>[];
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
          {columns.map(([title, , kind]) => (
            <th key={title} className={kind && styles[kind]}>
              {kind === "actions" ? <span className={styles["hidden"]}>{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            {columns.map(([title, cell, kind]) => (
              <td key={title} className={kind && styles[kind]} data-label={title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
