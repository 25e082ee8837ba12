import { listWalletApps } from "@payment-links/chains";
import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import { type Localization, fillPlaceholders } from "./localization.ts";

type WalletApp = ReturnType<typeof listWalletApps>[number];

type WalletAppsOptions = {
  pageUrl: string;
  chain: Pick<CatalogueChain, "id" | "chainType">;
  /** Whether the first app is the main action of the page. */
  isMainAction: boolean;
};

/**
 * Renders links that open the page in wallet apps. The stylesheet shows them on phones. Renders
 * nothing if no known app supports the chain. If the browser has a wallet, the page's script
 * replaces the first link with the pay button, which has the same height, so that nothing moves.
 */
export const renderWalletApps = (
  { pageUrl, chain, isMainAction }: WalletAppsOptions,
  { texts }: Localization,
): Html | undefined => {
  const [firstApp, ...otherApps] = listWalletApps(chain);
  if (firstApp === undefined) return undefined;
  const renderLink = ({ name, buildLink }: WalletApp, className: string) =>
    html`<a
      class="${className}"
      href="${buildLink(pageUrl)}"
      rel="noopener noreferrer nofollow"
      referrerpolicy="no-referrer"
      >${fillPlaceholders(texts.apps.open, { name })}</a
    >`;
  const listedApps = isMainAction ? otherApps : [firstApp, ...otherApps];
  return html`<div class="apps">
    ${isMainAction ? html`<div id="first-app">${renderLink(firstApp, "primary")}</div>` : undefined}
    ${
      listedApps.length === 0
        ? undefined
        : html`<details id="more-apps">
            <summary>${texts.apps.more}</summary>
            <ul>
              ${listedApps.map((app) => html`<li>${renderLink(app, "button")}</li>`)}
            </ul>
          </details>`
    }
  </div>`;
};
