import { type Html, html } from "@payment-links/http";
import { walletAppsOf } from "./wallet-apps.ts";
import { type Words, fill } from "./words.ts";

type WaysPart = { linkId: string; pageUrl: string; chainId: string };

/**
 * How somebody goes on who has no wallet in this browser: from a computer by the phone's camera, on a
 * phone in a wallet's own browser. The style sheet shows what fits the device, so nobody is asked
 * which it is, and what is not shown is not loaded.
 */
export const showOtherWays = ({ linkId, pageUrl, chainId }: WaysPart, words: Words): Html =>
  html`<figure class="qr">
      <img
        src="/checkout/qr/${linkId}.svg"
        width="176"
        height="176"
        loading="lazy"
        alt="${words.texts.qr.alternative}"
      />
      <figcaption>${words.texts.qr.caption}</figcaption>
    </figure>
    ${showApps({ pageUrl, chainId }, words)}`;

/** Links into wallets' own browsers; nothing where no wallet that we know of knows the chain. */
export const showApps = (
  { pageUrl, chainId }: Pick<WaysPart, "pageUrl" | "chainId">,
  { texts }: Words,
): Html | undefined => {
  const apps = walletAppsOf(chainId);
  if (apps.length === 0) return undefined;
  return html`<div class="apps">
    <p>${texts.apps.title}</p>
    <ul>
      ${apps.map(
        ({ name, linkTo }) =>
          html`<li>
            <a
              href="${linkTo(pageUrl)}"
              rel="noopener noreferrer nofollow"
              referrerpolicy="no-referrer"
              >${fill(texts.apps.open, { name })}</a
            >
          </li>`,
      )}
    </ul>
  </div>`;
};
