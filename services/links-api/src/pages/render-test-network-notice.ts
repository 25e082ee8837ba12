import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import { type Localization, fillPlaceholders } from "./localization.ts";

/** Says above everything else that what is paid here is worth nothing. */
export const renderTestNetworkNotice = (
  { name, isTestNetwork }: CatalogueChain,
  { texts }: Localization,
): Html | undefined =>
  isTestNetwork === true
    ? html`<p class="test">${fillPlaceholders(texts.testNetwork, { chain: name })}</p>`
    : undefined;
