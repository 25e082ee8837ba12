import { type Html, html } from "@payment-links/http";
import type { Texts } from "./languages/en.ts";
import type { Localization } from "./localization.ts";

/**
 * Renders a value with a hidden copy button. The page's script shows the button if the browser
 * supports the clipboard. `name` selects the button's accessible name.
 */
export const renderCopyableValue = (
  name: Exclude<keyof Texts["checkout"]["copy"], "copy" | "copied">,
  text: string,
  { texts: { copy } }: Localization,
  unit = "",
): Html =>
  html`<code>${text}</code> ${unit}
    <button
      class="copy"
      type="button"
      data-copy="${text}"
      data-copied="${copy.copied}"
      aria-label="${copy[name]}"
      hidden
    >
      ${copy.copy}
    </button>`;
