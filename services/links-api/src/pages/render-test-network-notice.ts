import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import { type Localization, fillPlaceholders } from "./localization.ts";

/**
 * Renders the first notice on the page, which says that payments on a test network have no value.
 */
export const renderTestNetworkNotice = (
  { name, isTestNetwork }: CatalogueChain,
  { texts }: Localization,
): Html | undefined =>
  isTestNetwork === true
    ? html`<p class="test">${fillPlaceholders(texts.testNetwork, { chain: name })}</p>`
    : undefined;
