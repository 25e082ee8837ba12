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
  /**
   * Whether the action is in progress. While it is, the button ignores presses and announces the
   * state.
   */
  isBusy?: boolean;
  isDisabled?: boolean;
  label?: string;
  onPress?: () => void;
};

const getClassName = (variant: ButtonVariant): string =>
  variant === "plain" ? (styles["button"] ?? "") : `${styles["button"]} ${styles[variant]}`;

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

/** A link to another view, styled as a button. */
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
