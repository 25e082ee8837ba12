import { type CatalogueChain, chainSource, explorerUrl } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { Payment } from "../domain/payment.ts";
import { type Words, fill } from "./words.ts";

/**
 * Leads to a payment's transaction in the explorer of its chain. A provider may tell of a transaction
 * on any chain, so only what we saw on this one ourselves is known to be there.
 */
export const showExplorerLink = (
  { source, sourceTransaction }: Payment,
  chain: CatalogueChain,
  words: Words,
): Html | undefined => {
  if (source !== chainSource(chain.id) || sourceTransaction === null) return undefined;
  const url = explorerUrl(chain, sourceTransaction);
  if (chain.explorer === undefined || url === undefined) return undefined;
  return html`<a href="${url}" rel="noopener noreferrer" referrerpolicy="no-referrer"
    >${wordsOf(chain.explorer, words)}</a
  >`;
};

/** The place in which a script leads to the transaction that a wallet has just sent; {} is where its hash goes. */
export const showExplorerPlace = ({ explorer }: CatalogueChain, words: Words): Html | undefined =>
  explorer === undefined
    ? undefined
    : html`<p>
        <a
          id="explorer"
          data-explorer="${explorer.url}${explorer.paths?.transactions ?? "/tx/{}"}"
          rel="noopener noreferrer"
          referrerpolicy="no-referrer"
          hidden
          >${wordsOf(explorer, words)}</a
        >
      </p>`;

const wordsOf = ({ url }: { url: string }, { texts }: Words): string =>
  fill(texts.explorer, { host: new URL(url).host });
