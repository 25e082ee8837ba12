import { copy as copyIcon } from "@payment-links/design/icons";
import { type Html, html } from "@payment-links/http";
import type { Texts } from "./languages/en.ts";
import type { Localization } from "./localization.ts";
import { renderIcon } from "./render-icon.ts";

type CopyRow = {
  label: string;
  /** Selects the accessible name of the copy button. */
  name: Exclude<keyof Texts["checkout"]["copy"], "copy" | "copied">;
  /** The text that is copied. */
  text: string;
  unit?: string;
  logo?: Html | undefined;
};

/**
 * Renders a row of a list: a label, a value, and a copy button at the end. The button is hidden
 * until the page's script shows it, because it needs the browser's clipboard.
 */
export const renderCopyRow = (
  { label, name, text, unit, logo }: CopyRow,
  { texts: { copy } }: Localization,
): Html =>
  html`<div class="copy-row">
    <dt>${label}</dt>
    <dd>${logo}<code>${text}</code>${unit === undefined ? undefined : ` ${unit}`}</dd>
    <dd>
      <button
        class="copy"
        type="button"
        data-copy="${text}"
        data-copied="${copy.copied}"
        aria-label="${copy[name]}"
        hidden
      >
        ${renderIcon(copyIcon)}<span>${copy.copy}</span>
      </button>
    </dd>
  </div>`;
