import { type CatalogueChain, getChainSource, buildExplorerUrl } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { Payment } from "../domain/payment.ts";
import { type Localization, fillPlaceholders } from "./localization.ts";

/**
 * Renders a link to a payment's transaction in its chain's explorer. A provider may report a
 * transaction of any chain. Only payments found by our own watch certainly exist on this chain.
 */
export const renderExplorerLink = (
  { source, sourceTransaction }: Payment,
  chain: CatalogueChain,
  localization: Localization,
): Html | undefined => {
  if (source !== getChainSource(chain.id) || sourceTransaction === null) return undefined;
  const url = buildExplorerUrl(chain, sourceTransaction);
  if (chain.explorer === undefined || url === undefined) return undefined;
  return html`<a href="${url}" rel="noopener noreferrer" referrerpolicy="no-referrer"
    >${formatLinkText(chain.explorer, localization)}</a
  >`;
};

/**
 * Renders the hidden link that a script completes with the transaction just sent by a wallet; `{}`
 * is the placeholder of its hash.
 */
export const renderExplorerLinkTemplate = (
  { explorer }: CatalogueChain,
  localization: Localization,
): Html | undefined =>
  explorer === undefined
    ? undefined
    : html`<p>
        <a
          id="explorer"
          data-explorer="${explorer.url}${explorer.paths?.transactions ?? "/tx/{}"}"
          rel="noopener noreferrer"
          referrerpolicy="no-referrer"
          hidden
          >${formatLinkText(explorer, localization)}</a
        >
      </p>`;

const formatLinkText = ({ url }: { url: string }, { texts }: Localization): string =>
  fillPlaceholders(texts.explorer, { host: new URL(url).host });
