import { type CatalogueChain, type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { PaymentInstructions } from "../domain/payment-instructions.ts";
import { getManualPaymentTexts } from "./get-manual-payment-texts.ts";
import { renderAmount } from "./render-amount.ts";
import type { Localization } from "./localization.ts";

type ExchangeOptions = {
  instructions: PaymentInstructions;
  destinationAddress: string;
  token: TokenData;
  chain: CatalogueChain;
  /** Whether the owner is told of transfers that name no link. */
  isTransferTracked: boolean;
};

/**
 * What somebody does whose money is at an exchange, and what happens then. An exchange can only send
 * plainly: on Bitcoin the address names the link, elsewhere nothing does, and the owner assigns it, where
 * it is seen at all.
 */
export const renderExchangeInstructions = (
  { instructions, destinationAddress, token, chain, isTransferTracked }: ExchangeOptions,
  localization: Localization,
): Html => {
  const { exchange } = getManualPaymentTexts(localization);
  const values = {
    amount: renderAmount(formatAmount(instructions.amount), localization.language),
    symbol: token.symbol,
    chain: chain.name,
    address: html`<code>${destinationAddress}</code>`,
  };
  const addressNamesLink = "uri" in instructions;
  const paragraphs =
    addressNamesLink || isTransferTracked
      ? [
          fillHtml(exchange.withdraw, values),
          addressNamesLink ? exchange.addressNamesLink : exchange.assignedManually,
        ]
      : [exchange.notTracked];
  return html`<details id="exchange" class="until-expiry">
    <summary>${exchange.title}</summary>
    ${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)}
  </details>`;
};
