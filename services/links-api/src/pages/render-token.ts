import type { TokenData } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";
import { renderChainLogo } from "./logos.ts";

/** Renders list rows for the token, its network and its contract. A native coin has no contract. */
export const renderTokenRows = (
  { name, symbol, address, isNative, chain }: TokenData,
  { texts: { labels } }: Localization,
): Html =>
  html`<div>
      <dt>${labels.token}</dt>
      <dd>${name} (${symbol})</dd>
    </div>
    <div>
      <dt>${labels.network}</dt>
      <dd>${renderChainLogo(chain.id)} ${chain.name}</dd>
    </div>
    ${
      isNative
        ? undefined
        : html`<div>
            <dt>${labels.tokenContract}</dt>
            <dd><code>${address}</code></dd>
          </div>`
    }`;
