import type { TokenData } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";

/**
 * The rows of a list that name the token and its network. The logo comes after the first frame, which
 * would be later with it.
 */
export const renderToken = (token: TokenData, { texts }: Localization): Html =>
  html`<dt>${texts.labels.token}</dt>
    <dd>${token.name} (${token.symbol})</dd>
    <dt>${texts.labels.network}</dt>
    <dd class="chain">
      <img src="${getLogoPath(token)}" alt="" width="20" height="20" loading="lazy" />
      ${token.chain.name}
    </dd>`;

/** The row with the token's own contract. */
export const renderTokenContract = (token: TokenData, { texts }: Localization): Html =>
  html`<dt>${texts.labels.tokenContract}</dt>
    <dd><code>${token.address}</code></dd>`;

/** From the origin by which the page was asked for: it may load images from no other. */
const getLogoPath = ({ chain }: TokenData): string => new URL(chain.logo).pathname;
