import { circleAlert, circleCheck, info, triangleAlert } from "@payment-links/design/icons";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { getErrorText } from "./error-text.ts";
import { Icon } from "./icon.tsx";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

type Tone = "plain" | "good" | "warn" | "bad";

const icons = { plain: info, good: circleCheck, warn: triangleAlert, bad: circleAlert };

/** A message that screen readers announce. */
export const Notice = ({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) => (
  <div className={styles["notice"]} data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
    <Icon node={icons[tone]} />
    <div className={styles["noticeText"]}>{children}</div>
  </div>
);

/** Shows an error, with a retry button if `onRetry` is given. */
export const ErrorNotice = ({ error, onRetry }: { error: unknown; onRetry?: () => void }) => (
  <Notice tone="bad">
    <p>{getErrorText(error)}</p>
    {onRetry !== undefined && (
      <div>
        <Button onPress={onRetry}>{texts.tryAgain}</Button>
      </div>
    )}
  </Notice>
);
