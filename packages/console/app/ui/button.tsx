import type { ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components";
import { Link } from "react-router";
import styles from "./ui.module.css";
import { texts } from "./texts.ts";

type ButtonVariant = "plain" | "primary" | "danger";
type ButtonProps = {
  children: ReactNode;
  variant?: ButtonVariant;
  type?: "button" | "submit";
  /** What it does is under way: it does nothing more, and says so. */
  isBusy?: boolean;
  isDisabled?: boolean;
  label?: string;
  onPress?: () => void;
};

const getClassName = (variant: ButtonVariant): string =>
  variant === "plain" ? (styles["button"] ?? "") : `${styles["button"]} ${styles[variant]}`;

/** A button. */
export const Button = ({
  children,
  variant = "plain",
  type = "button",
  isBusy = false,
  isDisabled = false,
  label,
  onPress,
}: ButtonProps) => (
  <AriaButton
    className={getClassName(variant)}
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
  variant = "plain",
  state,
}: {
  to: string;
  children: ReactNode;
  variant?: ButtonVariant;
  state?: unknown;
}) => (
  <Link className={getClassName(variant)} to={to} state={state}>
    {children}
  </Link>
);
