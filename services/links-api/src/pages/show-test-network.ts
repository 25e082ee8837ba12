import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import { type Words, fill } from "./words.ts";

/** Says above everything else that what is paid here is worth nothing. */
export const showTestNetwork = (
  { name, isTestNetwork }: CatalogueChain,
  { texts }: Words,
): Html | undefined =>
  isTestNetwork === true
    ? html`<p class="test">${fill(texts.testNetwork, { chain: name })}</p>`
    : undefined;
