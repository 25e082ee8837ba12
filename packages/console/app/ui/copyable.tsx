import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";
import styles from "./copyable.module.css";

type CopyableProps = {
  text: string;
  /** The accessible name of the button. */
  copyLabel: string;
  /** How the text is shown, if it differs from the copied one. */
  children?: ReactNode;
};

/** A text, such as an address or a URL, with a button that copies it. */
export const Copyable = ({ text, copyLabel, children }: CopyableProps) => (
  <span className={styles["copyable"]}>
    {children ?? <bdi>{text}</bdi>}
    <CopyButton text={text} label={copyLabel} />
  </span>
);
