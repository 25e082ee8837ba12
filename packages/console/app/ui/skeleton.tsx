import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/**
 * A placeholder for content that is loading. Give it the height of the content, so that the
 * elements below it do not move.
 */
export const Skeleton = ({ height = "7.5rem" }: { height?: string }) => (
  <div className={styles["skeleton"]} role="status" style={{ height }}>
    <span className={styles["hidden"]}>{texts.loading}</span>
  </div>
);

/** A placeholder for a table that is loading, as high as a table with this number of rows. */
export const SkeletonTable = ({ rows = 5 }: { rows?: number }) => (
  <div className={styles["skeletonTable"]} role="status">
    <span className={styles["hidden"]}>{texts.loading}</span>
    {/* The header is a row, too. */}
    {Array.from({ length: rows + 1 }, (_, row) => (
      <div key={row} />
    ))}
  </div>
);
