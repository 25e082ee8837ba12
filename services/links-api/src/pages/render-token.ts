import type { TokenData } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";

/**
 * Renders list rows for the token and its network. The logo is loaded lazily, so that it does not
 * delay the first paint.
 */
export const renderToken = (token: TokenData, { texts }: Localization): Html =>
  html`<dt>${texts.labels.token}</dt>
    <dd>${token.name} (${token.symbol})</dd>
    <dt>${texts.labels.network}</dt>
    <dd class="chain">
      <img src="${getLogoPath(token)}" alt="" width="20" height="20" loading="lazy" />
      ${token.chain.name}
    </dd>`;

/** Renders the list row for the token's contract. A native coin has none. */
export const renderTokenContract = (
  { address, isNative }: TokenData,
  { texts }: Localization,
): Html | undefined =>
  isNative
    ? undefined
    : html`<dt>${texts.labels.tokenContract}</dt>
        <dd><code>${address}</code></dd>`;

/**
 * Returns the path of the logo without an origin, because the page can only load images from its
 * own origin.
 */
const getLogoPath = ({ chain }: TokenData): string => new URL(chain.logo).pathname;
