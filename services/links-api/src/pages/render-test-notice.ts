import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { LinkView } from "../domain/link-view.ts";
import { type Localization, fillPlaceholders } from "./localization.ts";

/**
 * Renders the first notice on the page, which says that a payment has no value, because the link is
 * in test mode or on a test network (rule MODE-6).
 */
export const renderTestNotice = (
  { mode }: Pick<LinkView, "mode">,
  { name, isTestNetwork }: CatalogueChain,
  { texts }: Localization,
): Html | undefined => {
  if (mode === "test") return html`<p class="test">${texts.testMode}</p>`;
  return isTestNetwork === true
    ? html`<p class="test">${fillPlaceholders(texts.testNetwork, { chain: name })}</p>`
    : undefined;
};
