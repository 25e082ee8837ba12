import type { IconNode } from "@payment-links/design/icons";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import styles from "./ui.module.css";

type EmptyStateProps = {
  icon: IconNode;
  title: string;
  /** One sentence that says what will appear here, or what to do first. */
  children: ReactNode;
  action?: ReactNode;
};

/** What a list shows while it is empty. */
export const EmptyState = ({ icon, title, children, action }: EmptyStateProps) => (
  <div className={styles["emptyState"]}>
    <span className={styles["emptyIcon"]}>
      <Icon node={icon} size={20} />
    </span>
    <p className={styles["emptyTitle"]}>{title}</p>
    <p className={styles["quiet"]}>{children}</p>
    {action}
  </div>
);
