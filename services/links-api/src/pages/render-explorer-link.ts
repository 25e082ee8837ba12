import { buildExplorerUrl } from "@payment-links/chains";
import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import { type Payment, isObserved } from "../domain/payment.ts";
import { type Localization, fillPlaceholders } from "./localization.ts";

/**
 * Renders a link to a payment's transaction in the explorer of its chain. A provider can report a
 * transaction of another chain, so only payments that settlement-listener found on the chain get
 * this link.
 */
export const renderExplorerLink = (
  { source, sourceTransaction }: Payment,
  chain: CatalogueChain,
  localization: Localization,
): Html | undefined => {
  if (!isObserved({ chainId: chain.id, source }) || sourceTransaction === null) return undefined;
  const url = buildExplorerUrl(chain, sourceTransaction);
  if (chain.explorer === undefined || url === undefined) return undefined;
  return html`<a href="${url}" rel="noopener noreferrer" referrerpolicy="no-referrer"
    >${formatLinkText(chain.explorer, localization)}</a
  >`;
};

/**
 * Renders a hidden explorer link. The page's script completes it with the hash of the transaction
 * that a wallet has just sent. `{}` is the placeholder for the hash.
 */
export const renderExplorerLinkTemplate = (
  { explorer }: CatalogueChain,
  localization: Localization,
): Html | undefined =>
  explorer === undefined
    ? undefined
    : html`<a
        id="explorer"
        data-explorer="${explorer.url}${explorer.paths?.transactions ?? "/tx/{}"}"
        rel="noopener noreferrer"
        referrerpolicy="no-referrer"
        hidden
        >${formatLinkText(explorer, localization)}</a
      >`;

const formatLinkText = ({ url }: { url: string }, { texts }: Localization): string =>
  fillPlaceholders(texts.explorer, { host: new URL(url).host });
