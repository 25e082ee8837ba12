import { chevronLeft } from "@payment-links/design/icons";
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "react-router";
import { mode } from "../mode.ts";
import { Icon } from "./icon.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

type PageProps = {
  title: string;
  /** The link to the list that the view belongs to. */
  back?: { to: string; label: string };
  /** What is shown next to the title, such as a badge. */
  status?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

const productName = mode === "test" ? `Payment Links (${texts.testMode})` : "Payment Links";

/**
 * A view with its heading. The heading gets the focus, so that screen readers announce the view.
 */
export const Page = ({ title, back, status, actions, children }: PageProps) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The title is enclosed in isolation characters, because user text can be left-to-right or
    // right-to-left.
    document.title = `\u2068${title}\u2069 · ${productName}`;
  }, [title]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div className={styles["page"]}>
      {back !== undefined && (
        <Link className={styles["back"]} to={back.to}>
          <Icon node={chevronLeft} />
          {back.label}
        </Link>
      )}
      <div className={styles["pageHeader"]}>
        <div className={styles["row"]}>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {status}
        </div>
        {actions !== undefined && <div className={styles["row"]}>{actions}</div>}
      </div>
      {children}
    </div>
  );
};

/** A section of a view. A table that is its direct child reaches to its edges. */
export const Card = ({
  title,
  actions,
  children,
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
}) => (
  <section className={styles["card"]}>
    {(title !== undefined || actions !== undefined) && (
      <div className={`${styles["row"]} ${styles["spread"]}`}>
        {title !== undefined && <h2>{title}</h2>}
        {actions !== undefined && <div className={styles["row"]}>{actions}</div>}
      </div>
    )}
    {children}
  </section>
);
