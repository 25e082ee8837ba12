import { useEffect, useState } from "react";
import { Button } from "./button.tsx";
import { texts } from "./texts.ts";

/** How long the button says that the text was copied. */
const copiedMs = 2_000;

/** Copies a text and confirms it. */
export const CopyButton = ({ text, label = texts.copy }: { text: string; label?: string }) => {
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
  return <Button onPress={() => void copy()}>{isCopied ? texts.copied : label}</Button>;
};
