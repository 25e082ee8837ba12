import { type ReactNode, useEffect, useRef } from "react";
import styles from "./ui.module.css";

/**
 * A view with its heading. The heading gets the focus, so that screen readers announce the view.
 */
export const Page = ({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The title is enclosed in isolation characters, because user text can be left-to-right or
    // right-to-left.
    document.title = `\u2068${title}\u2069 · Payment Links`;
  }, [title]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div className={styles["stack"]}>
      <div className={`${styles["row"]} ${styles["spread"]}`}>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions !== undefined && <div className={styles["row"]}>{actions}</div>}
      </div>
      {children}
    </div>
  );
};

/** A section of a view. */
export const Card = ({ title, children }: { title?: string; children: ReactNode }) => (
  <section className={styles["card"]}>
    {title !== undefined && <h2>{title}</h2>}
    {children}
  </section>
);
