import { Link } from "react-router";
import { formatCount } from "./format.ts";
import styles from "./ui.module.css";

type Tab = { to: string; label: string; isCurrent: boolean; count?: number };

/** Links to the parts of a view, or to the filters of a list, as tabs. */
export const Tabs = ({ label, tabs }: { label: string; tabs: readonly Tab[] }) => (
  <nav aria-label={label}>
    <ul className={styles["tabs"]}>
      {tabs.map(({ to, label: text, isCurrent, count }) => (
        <li key={to}>
          <Link to={to} {...(isCurrent ? { "aria-current": "page" } : {})}>
            {text}
            {count !== undefined && <span className={styles["count"]}>{formatCount(count)}</span>}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);
