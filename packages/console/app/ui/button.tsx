import type { IconNode } from "@payment-links/design/icons";
import type { ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components";
import { Link } from "react-router";
import { Icon } from "./icon.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/** `danger` is for the button that confirms an irreversible action. `quiet` has no border. */
export type ButtonVariant = "plain" | "primary" | "danger" | "quiet";

type ButtonProps = {
  children: ReactNode;
  variant?: ButtonVariant;
  icon?: IconNode;
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
  icon,
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
    {icon !== undefined && <Icon node={icon} />}
    {isBusy ? texts.working : children}
  </AriaButton>
);

/** A quiet button that shows only an icon. The label is its accessible name. */
export const IconButton = ({
  icon,
  label,
  onPress,
}: {
  icon: IconNode;
  label: string;
  onPress: () => void;
}) => (
  <AriaButton className={styles["iconButton"] ?? ""} aria-label={label} onPress={onPress}>
    <Icon node={icon} />
  </AriaButton>
);

/** A link to another view, styled as a button. */
export const ButtonLink = ({
  to,
  children,
  variant = "plain",
  icon,
  state,
}: {
  to: string;
  children: ReactNode;
  variant?: ButtonVariant;
  icon?: IconNode;
  state?: unknown;
}) => (
  <Link className={getClassName(variant)} to={to} state={state}>
    {icon !== undefined && <Icon node={icon} />}
    {children}
  </Link>
);

/** A link to a page outside of the console, styled as a button. */
export const ButtonAnchor = ({
  href,
  children,
  variant = "plain",
  icon,
}: {
  href: string;
  children: ReactNode;
  variant?: ButtonVariant;
  icon?: IconNode;
}) => (
  <a className={getClassName(variant)} href={href}>
    {icon !== undefined && <Icon node={icon} />}
    {children}
  </a>
);
