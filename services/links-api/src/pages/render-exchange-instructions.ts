import { getFamily } from "@payment-links/chains";
import { type CatalogueChain, type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { PaymentInstructions } from "../domain/payment-instructions.ts";
import { renderAmount } from "./render-amount.ts";
import { renderCopyableValue } from "./render-copyable-value.ts";
import type { Localization } from "./localization.ts";

type ExchangeOptions = {
  instructions: PaymentInstructions;
  destinationAddress: string;
  token: TokenData;
  chain: CatalogueChain;
  /** Whether direct transfers to owners are tracked on the token's chain. */
  isTransferTracked: boolean;
};

/**
 * Renders instructions for payers whose money is at an exchange. An exchange can only make plain
 * transfers. If the link has its own address, it identifies the link. Otherwise, a plain transfer
 * does not identify a link, so the owner has to assign it to one. This is only possible if plain
 * transfers are tracked.
 */
export const renderExchangeInstructions = (
  { instructions, destinationAddress, token, chain, isTransferTracked }: ExchangeOptions,
  localization: Localization,
): Html => {
  const { exchange, ...texts } = localization.manualPaymentTexts;
  const amount = formatAmount(instructions.amount);
  const values = {
    amount: renderAmount(amount, localization.language),
    symbol: token.symbol,
    chain: chain.name,
    address: html`<code>${destinationAddress}</code>`,
  };
  const addressNamesLink = getFamily(chain.chainType).linkAddresses !== undefined;
  const content =
    addressNamesLink || isTransferTracked
      ? html`<p>${fillHtml(exchange.withdraw, values)}</p>
          <dl>
            <dt>${texts.amount}</dt>
            <dd>${renderCopyableValue("amount", amount, localization, token.symbol)}</dd>
            <dt>${texts.address}</dt>
            <dd>${renderCopyableValue("to", destinationAddress, localization)}</dd>
          </dl>
          <p>${addressNamesLink ? exchange.addressNamesLink : exchange.assignedManually}</p>`
      : html`<p>${exchange.notTracked}</p>`;
  return html`<details id="exchange" class="while-payable">
    <summary>${exchange.title}</summary>
    ${content}
  </details>`;
};
