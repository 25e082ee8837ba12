import { download } from "@payment-links/design/icons";
import { useId, useRef } from "react";
import { buildOperationUrl } from "../../api/call.ts";
import { mode } from "../../mode.ts";
import { DownloadButton } from "../../ui/download-button.tsx";
import { Icon } from "../../ui/icon.tsx";
import uiStyles from "../../ui/ui.module.css";
import type { parseLinkFilter } from "./filter.ts";
import styles from "./links.module.css";
import { texts } from "./texts.ts";

const gapPx = 4;

/**
 * A button that opens a panel with the downloads of the list. A download continues while the panel
 * is closed.
 */
export const ExportPanel = ({ filter }: { filter: ReturnType<typeof parseLinkFilter> }) => {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const { from, to } = filter;
  return (
    <>
      <button
        ref={button}
        type="button"
        className={uiStyles["button"]}
        popoverTarget={id}
        aria-haspopup="dialog"
      >
        <Icon node={download} />
        {texts.export}
      </button>
      <div
        id={id}
        popover="auto"
        className={styles["export"]}
        role="dialog"
        aria-label={texts.export}
        onBeforeToggle={({ newState, currentTarget: { style } }) => {
          const rect = button.current?.getBoundingClientRect();
          if (newState !== "open" || rect === undefined) return;
          style.setProperty("--top", `${rect.bottom + gapPx}px`);
          style.setProperty("--right", `${document.documentElement.clientWidth - rect.right}px`);
        }}
      >
        <DownloadButton
          label={texts.downloadLinksCsv}
          href={buildOperationUrl("exportOwnPaymentLinks", { query: { ...filter, mode } })}
        />
        <DownloadButton
          label={texts.downloadPaymentsCsv}
          href={buildOperationUrl("exportOwnPayments", { query: { from, to, mode } })}
        />
      </div>
    </>
  );
};
