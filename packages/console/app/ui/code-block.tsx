import type { ReactNode } from "react";
import styles from "./code-block.module.css";
import { CopyButton } from "./copy-button.tsx";

type CodeBlockProps = {
  /** The accessible name, such as the language or the file name. */
  label: string;
  code: string;
  copyLabel: string;
  /** Shown above the code instead of the label. */
  header?: ReactNode;
  /** The text to copy, if it differs from the shown code. */
  copiedText?: string;
  isWrapped?: boolean;
};

/** Code with a copy button. */
export const CodeBlock = ({
  label,
  code,
  copyLabel,
  header = label,
  copiedText = code,
  isWrapped = false,
}: CodeBlockProps) => (
  <div className={styles["block"]}>
    <div className={styles["header"]}>
      {header}
      <CopyButton text={copiedText} label={copyLabel} />
    </div>
    <pre
      className={isWrapped ? `${styles["code"]} ${styles["wrapped"]}` : styles["code"]}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- Scrollable content must be reachable by keyboard.
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      {code}
    </pre>
  </div>
);
