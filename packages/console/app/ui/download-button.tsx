import { useEffect, useRef, useState } from "react";
import { type DownloadProgress, download } from "../api/download.ts";
import { Button } from "./button.tsx";
import { formatBytes, formatCount } from "./format.ts";
import { ErrorNotice } from "./notice.tsx";
import { suppressDoubleClick } from "./double-clicks.ts";
import { texts } from "./texts.ts";
import styles from "./ui.module.css";

type State =
  | { kind: "idle" | "stopped" }
  | { kind: "running"; progress: DownloadProgress }
  | { kind: "whole"; rowCount: number; name: string; url: string }
  | { kind: "failed"; error: unknown };

/**
 * Downloads a CSV, shows the progress and offers to stop. Saves the file only when it is complete.
 */
export const DownloadButton = ({ label, href }: { label: string; href: string }) => {
  const { state, start, stop } = useDownload(href);
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
        {/* Announces the start and the end of a download, but not its progress. */}
        <span role="status">{getStatusText(state)}</span>
      </div>
      {isRunning && <ProgressBar label={label} progress={state.progress} />}
      {state.kind === "whole" && (
        <a href={state.url} download={state.name}>
          {texts.saveAgain}
        </a>
      )}
      {state.kind === "failed" && <ErrorNotice error={state.error} />}
      {(isRunning || state.kind === "failed" || state.kind === "stopped") && (
        <a className={styles["small"]} href={href} download>
          {texts.downloadInBrowser}
        </a>
      )}
    </div>
  );
};

const getStatusText = (state: State): string => {
  if (state.kind === "running") return texts.downloading;
  if (state.kind === "stopped") return texts.stopped;
  return state.kind === "whole" ? texts.downloadComplete(formatCount(state.rowCount)) : "";
};

const ProgressBar = ({
  label,
  progress: { byteCount, rowCount, totalRowCount },
}: {
  label: string;
  progress: DownloadProgress;
}) => (
  <>
    <progress
      className={styles["progress"]}
      aria-label={label}
      {...(totalRowCount === undefined
        ? {}
        : { max: Math.max(1, totalRowCount), value: Math.min(rowCount, totalRowCount) })}
    />
    <span className={`${styles["quiet"]} ${styles["small"]}`}>
      {totalRowCount === undefined
        ? texts.rowCount(formatCount(rowCount))
        : texts.rowProgress(formatCount(rowCount), formatCount(totalRowCount))}
      {` · ${formatBytes(byteCount)}`}
    </span>
  </>
);

const noProgress: DownloadProgress = { byteCount: 0, rowCount: 0, totalRowCount: undefined };

const useDownload = (href: string) => {
  const [state, setState] = useState<State>({ kind: "idle" });
  const activeController = useRef<AbortController>(undefined);
  // Stops the download when the user leaves the view.
  useEffect(() => () => activeController.current?.abort(), []);
  const url = state.kind === "whole" ? state.url : undefined;
  useEffect(() => () => (url === undefined ? undefined : URL.revokeObjectURL(url)), [url]);
  const start = async (): Promise<void> => {
    // A second click can arrive before React renders again.
    if (activeController.current !== undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    activeController.current = controller;
    // The start button has become the stop button.
    const allowNextClick = suppressDoubleClick();
    setState({ kind: "running", progress: noProgress });
    try {
      const onProgress = (progress: DownloadProgress) => setState({ kind: "running", progress });
      const { file, name, rowCount } = await download(href, { signal, onProgress });
      signal.throwIfAborted();
      const fileUrl = URL.createObjectURL(file);
      setState({ kind: "whole", rowCount, name, url: fileUrl });
      saveFile(fileUrl, name);
    } catch (error) {
      allowNextClick();
      setState(signal.aborted ? { kind: "stopped" } : { kind: "failed", error });
    } finally {
      activeController.current = undefined;
    }
  };
  return { state, start: () => void start(), stop: () => activeController.current?.abort() };
};

const saveFile = (url: string, name: string): void => {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
};
