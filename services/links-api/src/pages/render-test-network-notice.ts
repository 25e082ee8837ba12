import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import { type Localization, fillPlaceholders } from "./localization.ts";

/** Renders the page's first notice: payments on a test network are worth nothing. */
export const renderTestNetworkNotice = (
  { name, isTestNetwork }: CatalogueChain,
  { texts }: Localization,
): Html | undefined =>
  isTestNetwork === true
    ? html`<p class="test">${fillPlaceholders(texts.testNetwork, { chain: name })}</p>`
    : undefined;
