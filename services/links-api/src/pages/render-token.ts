import type { TokenData } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";

/**
 * Renders the list rows for the token and its network. The logo loads lazily so that it does not
 * delay the first frame.
 */
export const renderToken = (token: TokenData, { texts }: Localization): Html =>
  html`<dt>${texts.labels.token}</dt>
    <dd>${token.name} (${token.symbol})</dd>
    <dt>${texts.labels.network}</dt>
    <dd class="chain">
      <img src="${getLogoPath(token)}" alt="" width="20" height="20" loading="lazy" />
      ${token.chain.name}
    </dd>`;

/** Renders the row with the token's contract. */
export const renderTokenContract = (token: TokenData, { texts }: Localization): Html =>
  html`<dt>${texts.labels.tokenContract}</dt>
    <dd><code>${token.address}</code></dd>`;

/**
 * Returns the logo's path without origin, because the page may load images only from its own
 * origin.
 */
const getLogoPath = ({ chain }: TokenData): string => new URL(chain.logo).pathname;
