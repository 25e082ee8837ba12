import { type CatalogueChain, type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { PaymentInstructions } from "../domain/payment-instructions.ts";
import { byHandTextsFor } from "./by-hand-texts-for.ts";
import { showAmount } from "./show-amount.ts";
import type { Words } from "./words.ts";

type Part = {
  instructions: PaymentInstructions;
  destinationAddress: string;
  token: TokenData;
  chain: CatalogueChain;
  /** Whether the owner is told of transfers that name no link. */
  isSeen: boolean;
};

/**
 * What somebody does whose money is at an exchange, and what happens then. An exchange can only send
 * plainly: on Bitcoin the address names the link, elsewhere nothing does, and the owner assigns it, where
 * it is seen at all.
 */
export const showExchange = (
  { instructions, destinationAddress, token, chain, isSeen }: Part,
  words: Words,
): Html => {
  const { exchange } = byHandTextsFor(words);
  const values = {
    amount: showAmount(formatAmount(instructions.amount), words.language),
    symbol: token.symbol,
    chain: chain.name,
    address: html`<code>${destinationAddress}</code>`,
  };
  const isNamed = "uri" in instructions;
  const lines =
    isNamed || isSeen
      ? [fillHtml(exchange.send, values), isNamed ? exchange.named : exchange.unnamed]
      : [exchange.unseen];
  return html`<details id="exchange" class="until-expiry">
    <summary>${exchange.title}</summary>
    ${lines.map((line) => html`<p>${line}</p>`)}
  </details>`;
};
