import { type Html, html } from "@payment-links/http";
import { listWalletApps } from "./wallet-apps.ts";
import { type Localization, fillPlaceholders } from "./localization.ts";

type NoWalletOptions = { linkId: string; pageUrl: string; chainId: string };

/**
 * How somebody goes on who has no wallet in this browser: from a computer by the phone's camera, on a
 * phone in a wallet's own browser. The style sheet shows what fits the device, so nobody is asked
 * which it is, and what is not shown is not loaded.
 */
export const renderNoWalletOptions = (
  { linkId, pageUrl, chainId }: NoWalletOptions,
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
    ${renderWalletApps({ pageUrl, chainId }, localization)}`;

/** Links into wallets' own browsers; nothing where no wallet that we know of knows the chain. */
export const renderWalletApps = (
  { pageUrl, chainId }: Pick<NoWalletOptions, "pageUrl" | "chainId">,
  { texts }: Localization,
): Html | undefined => {
  const apps = listWalletApps(chainId);
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
