import type { ReactNode } from "react";
import styles from "./ui.module.css";

/** The color of a badge. The badge's text has the same meaning. */
export type Tone = "accent" | "good" | "bad" | "warn" | "quiet";

/** A state in one word. */
export const Badge = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={styles["badge"]} data-tone={tone}>
    {children}
  </span>
);
