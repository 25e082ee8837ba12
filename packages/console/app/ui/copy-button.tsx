import { check, copy as copyIcon } from "@payment-links/design/icons";
import { useEffect, useState } from "react";
import { Button, type ButtonVariant, IconButton } from "./button.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

/** How long the button says that the text was copied. */
const copiedMs = 2_000;

type CopyProps = {
  text: string;
  label?: string;
  /** Shows the label next to the icon. */
  hasVisibleLabel?: boolean;
  variant?: ButtonVariant;
};

/** Copies a text and confirms it for two seconds. */
export const CopyButton = ({
  text,
  label = texts.copy,
  hasVisibleLabel = false,
  variant = "plain",
}: CopyProps) => {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    // Without https, browsers do not have `navigator.clipboard`.
    await navigator.clipboard?.writeText(text);
    setCopied(navigator.clipboard !== undefined);
  };
  const icon = isCopied ? check : copyIcon;
  const onPress = () => void copy();
  if (hasVisibleLabel) {
    return (
      <Button variant={variant} icon={icon} onPress={onPress}>
        {isCopied ? texts.copied : label}
      </Button>
    );
  }
  return (
    <span className={styles["copy"]}>
      <IconButton icon={icon} label={label} onPress={onPress} />
      <span className={styles["bubble"]} role="status">
        {isCopied && texts.copied}
      </span>
    </span>
  );
};
