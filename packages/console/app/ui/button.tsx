import type { ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components";
import { Link } from "react-router";
import styles from "./ui.module.css";
import { texts } from "./texts.ts";

type Look = "plain" | "primary" | "danger";
type ButtonProps = {
  children: ReactNode;
  look?: Look;
  type?: "button" | "submit";
  /** What it does is under way: it does nothing more, and says so. */
  isBusy?: boolean;
  isDisabled?: boolean;
  label?: string;
  onPress?: () => void;
};

const classOf = (look: Look): string =>
  look === "plain" ? (styles["button"] ?? "") : `${styles["button"]} ${styles[look]}`;

/** A button. */
export const Button = ({
  children,
  look = "plain",
  type = "button",
  isBusy = false,
  isDisabled = false,
  label,
  onPress,
}: ButtonProps) => (
  <AriaButton
    className={classOf(look)}
    type={type}
    isDisabled={isBusy || isDisabled}
    {...(label === undefined ? {} : { "aria-label": label })}
    {...(onPress === undefined ? {} : { onPress })}
  >
    {isBusy ? texts.working : children}
  </AriaButton>
);

/** A way to another view that looks like a button. */
export const ButtonLink = ({
  to,
  children,
  look = "plain",
  state,
}: {
  to: string;
  children: ReactNode;
  look?: Look;
  state?: unknown;
}) => (
  <Link className={classOf(look)} to={to} state={state}>
    {children}
  </Link>
);
