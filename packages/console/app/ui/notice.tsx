import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { errorText } from "./error-text.ts";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

type Tone = "plain" | "good" | "warn" | "bad";

/** Something that a person should know, told to whoever cannot see it, too. */
export const Notice = ({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) => (
  <div className={styles["notice"]} data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
    {children}
  </div>
);

/** What failed, in words, and the way to try again where there is one. */
export const ErrorNotice = ({ error, onAgain }: { error: unknown; onAgain?: () => void }) => (
  <Notice tone="bad">
    <p>{errorText(error)}</p>
    {onAgain !== undefined && (
      <div>
        <Button onPress={onAgain}>{texts.again}</Button>
      </div>
    )}
  </Notice>
);
