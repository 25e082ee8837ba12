import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import { checkoutTexts as texts, fill } from "./checkout-texts.ts";

/** Says above everything else that what is paid here is worth nothing. */
export const showTestNetwork = ({ name, isTestNetwork }: CatalogueChain): Html | undefined =>
  isTestNetwork === true
    ? html`<p class="test">${fill(texts.testNetwork, { chain: name })}</p>`
    : undefined;
