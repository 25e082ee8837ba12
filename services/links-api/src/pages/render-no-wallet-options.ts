import { listWalletApps } from "@payment-links/chains";
import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import { type Localization, fillPlaceholders } from "./localization.ts";

type NoWalletOptions = {
  linkId: string;
  pageUrl: string;
  chain: Pick<CatalogueChain, "id" | "chainType">;
};

/**
 * Renders options for visitors whose browser does not have a wallet: a QR code for the phone's
 * camera on a computer, and links to wallet apps on a phone. The stylesheet shows the options that
 * fit the device. Hidden images are not loaded.
 */
export const renderNoWalletOptions = (
  { linkId, pageUrl, chain }: NoWalletOptions,
  localization: Localization,
): Html =>
  html`<figure class="qr">
      <img
        src="/checkout/qr/${linkId}.svg"
        width="176"
        height="176"
        loading="lazy"
        alt="${localization.texts.qr.alternative}"
      />
      <figcaption>${localization.texts.qr.caption}</figcaption>
    </figure>
    ${renderWalletApps({ pageUrl, chain }, localization)}`;

/**
 * Renders links that open the page in wallet apps. Renders nothing if no known app supports the
 * chain.
 */
export const renderWalletApps = (
  { pageUrl, chain }: Pick<NoWalletOptions, "pageUrl" | "chain">,
  { texts }: Localization,
): Html | undefined => {
  const apps = listWalletApps(chain);
  if (apps.length === 0) return undefined;
  return html`<div class="apps">
    <p>${texts.apps.title}</p>
    <ul>
      ${apps.map(
        ({ name, buildLink }) =>
          html`<li>
            <a
              href="${buildLink(pageUrl)}"
              rel="noopener noreferrer nofollow"
              referrerpolicy="no-referrer"
              >${fillPlaceholders(texts.apps.open, { name })}</a
            >
          </li>`,
      )}
    </ul>
  </div>`;
};
