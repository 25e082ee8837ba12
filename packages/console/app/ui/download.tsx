import { useEffect, useRef, useState } from "react";
import { type Progress, download } from "../api/download.ts";
import { Button } from "./button.tsx";
import { showBytes, showCount } from "./format.ts";
import { ErrorNotice } from "./notice.tsx";
import { holdClicks } from "./second-clicks.ts";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

type State =
  | { kind: "idle" | "stopped" }
  | { kind: "running"; progress: Progress }
  | { kind: "whole"; rowCount: number; name: string; url: string }
  | { kind: "failed"; error: unknown };

/** A button that fetches a CSV, tells how far it is, and stops it; the file is handed over once whole. */
export const Download = ({ label, address }: { label: string; address: string }) => {
  const { state, start, stop } = useDownload(address);
  const isRunning = state.kind === "running";
  return (
    <div className={styles["download"]}>
      <div className={styles["row"]}>
        <Button
          onPress={isRunning ? stop : start}
          {...(isRunning ? { label: `${texts.stop}: ${label}` } : {})}
        >
          {isRunning ? texts.stop : label}
        </Button>
        {/* It tells when something began or ended, and is silent in between. */}
        <span role="status">{said(state)}</span>
      </div>
      {isRunning && <HowFar label={label} progress={state.progress} />}
      {state.kind === "whole" && (
        <a href={state.url} download={state.name}>
          {texts.saveAgain}
        </a>
      )}
      {state.kind === "failed" && <ErrorNotice error={state.error} />}
      {(isRunning || state.kind === "failed" || state.kind === "stopped") && (
        <a className={styles["small"]} href={address} download>
          {texts.byBrowser}
        </a>
      )}
    </div>
  );
};

const said = (state: State): string => {
  if (state.kind === "running") return texts.downloading;
  if (state.kind === "stopped") return texts.stopped;
  return state.kind === "whole" ? texts.whole(showCount(state.rowCount)) : "";
};

const HowFar = ({
  label,
  progress: { byteCount, rowCount, rowTotal },
}: {
  label: string;
  progress: Progress;
}) => (
  <>
    <progress
      className={styles["progress"]}
      aria-label={label}
      {...(rowTotal === undefined
        ? {}
        : { max: Math.max(1, rowTotal), value: Math.min(rowCount, rowTotal) })}
    />
    <span className={`${styles["quiet"]} ${styles["small"]}`}>
      {rowTotal === undefined
        ? texts.rows(showCount(rowCount))
        : texts.rowsOf(showCount(rowCount), showCount(rowTotal))}
      {` · ${showBytes(byteCount)}`}
    </span>
  </>
);

const nothing: Progress = { byteCount: 0, rowCount: 0, rowTotal: undefined };

const useDownload = (address: string) => {
  const [state, setState] = useState<State>({ kind: "idle" });
  const underWay = useRef<AbortController>(undefined);
  // What is left behind is stopped.
  useEffect(() => () => underWay.current?.abort(), []);
  const url = state.kind === "whole" ? state.url : undefined;
  useEffect(() => () => (url === undefined ? undefined : URL.revokeObjectURL(url)), [url]);
  const start = async (): Promise<void> => {
    // A second click may come before the page is drawn again.
    if (underWay.current !== undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    underWay.current = controller;
    // The button that starts becomes the one that stops.
    const letClick = holdClicks();
    setState({ kind: "running", progress: nothing });
    try {
      const onProgress = (progress: Progress) => setState({ kind: "running", progress });
      const { file, name, rowCount } = await download(address, { signal, onProgress });
      signal.throwIfAborted();
      const whole = URL.createObjectURL(file);
      setState({ kind: "whole", rowCount, name, url: whole });
      save(whole, name);
    } catch (error) {
      letClick();
      setState(signal.aborted ? { kind: "stopped" } : { kind: "failed", error });
    } finally {
      underWay.current = undefined;
    }
  };
  return { state, start: () => void start(), stop: () => underWay.current?.abort() };
};

const save = (url: string, name: string): void => {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
};
