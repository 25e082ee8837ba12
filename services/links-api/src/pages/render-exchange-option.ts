import { getFamily } from "@payment-links/chains";
import { type CatalogueChain, type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { PaymentInstructions } from "../domain/payment-instructions.ts";
import { renderAmount } from "./render-amount.ts";
import { renderAmountRow, renderNetworkRow } from "./render-amount-rows.ts";
import { renderCopyRow } from "./render-copy-row.ts";
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
export const renderExchangeOption = (
  { instructions, destinationAddress, token, chain, isTransferTracked }: ExchangeOptions,
  localization: Localization,
): Html => {
  const { language, texts, manualPaymentTexts } = localization;
  const { exchange } = manualPaymentTexts;
  const addressNamesLink = getFamily(chain.chainType).linkAddresses !== undefined;
  if (!addressNamesLink && !isTransferTracked) return html`<p>${exchange.notTracked}</p>`;
  const amount = formatAmount(instructions.amount);
  const { symbol } = token;
  const values = { amount: renderAmount(amount, language), symbol, chain: chain.name };
  const { address } = texts.labels;
  return html`<p>${fillHtml(exchange.withdraw, values)}</p>
    <dl class="rows">
      ${renderAmountRow(amount, symbol, localization)} ${renderNetworkRow(chain, localization)}
      ${renderCopyRow({ label: address, name: "to", text: destinationAddress }, localization)}
    </dl>
    <p class="quiet">
      ${addressNamesLink ? exchange.addressNamesLink : exchange.assignedManually}
    </p>`;
};
