import { type TronCall, getPaymentUri } from "@payment-links/chains";
import {
  type CatalogueChain,
  Decimal,
  type TokenData,
  formatAmount,
} from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { PaymentInstructions } from "../domain/payment-instructions.ts";
import type { Texts } from "./languages/en.ts";
import { renderAmount } from "./render-amount.ts";
import { renderCopyableValue } from "./render-copyable-value.ts";
import { renderWalletApps } from "./render-no-wallet-options.ts";
import { type Localization, fillPlaceholders } from "./localization.ts";

type ManualPaymentOptions = {
  linkId: string;
  pageUrl: string;
  chain: CatalogueChain;
  /**
   * The Solana transaction request URL, or null if wallets cannot use it. It is offered first
   * because of its advantages (rule CHAIN-23).
   */
  requestUrl: string | null;
  instructions: PaymentInstructions;
  token: TokenData;
};

/**
 * Renders how to pay a link on a chain that is not an EVM chain. On Solana and Bitcoin, a wallet
 * opens or scans a request. On Tron, the payer makes two calls.
 */
export const renderManualPayment = (
  options: ManualPaymentOptions,
  localization: Localization,
): Html => {
  const { linkId, instructions, requestUrl, token } = options;
  const texts = localization.manualPaymentTexts;
  const uri = getPaymentUri(instructions);
  return html`<section id="by-hand" class="while-payable">
    ${
      uri === undefined
        ? undefined
        : html`<p>
              <a class="primary" href="${requestUrl ?? uri}" rel="noreferrer"
                >${fillHtml(texts.payInWallet, getAmountValues(options, localization))}</a
              >
            </p>
            <figure class="qr">
              <img
                src="/checkout/qr/${linkId}/${requestUrl === null ? "payment" : "request"}.svg"
                width="232"
                height="232"
                loading="lazy"
                alt="${texts.qr.alternative}"
              />
              <figcaption>${texts.qr.caption}</figcaption>
            </figure>
            ${renderWalletApps(options, localization)}`
    }
    ${requestUrl === null || uri === undefined ? undefined : renderTransferRequest(linkId, uri, texts)}
    <p class="quiet">${getHint(instructions, texts)}</p>
    <dl>
      <dt>${texts.amount}</dt>
      <dd>
        ${renderCopyableValue("amount", formatAmount(instructions.amount), localization, token.symbol)}
      </dd>
      ${
        "address" in instructions
          ? html`<dt>${texts.address}</dt>
              <dd>${renderCopyableValue("to", instructions.address, localization)}</dd>`
          : undefined
      }
    </dl>
  </section>`;
};

/**
 * Renders the transfer request for older wallets, which do not support transaction requests. With a
 * transfer request, the wallet itself creates the transfer.
 */
const renderTransferRequest = (
  linkId: string,
  uri: string,
  { solanaTransferRequest }: Texts["manualPayment"],
): Html =>
  html`<details id="transfer-request">
    <summary>${solanaTransferRequest.title}</summary>
    <p>${solanaTransferRequest.text}</p>
    <p><a href="${uri}" rel="noreferrer">${solanaTransferRequest.payWithRequest}</a></p>
    <figure class="qr">
      <img
        src="/checkout/qr/${linkId}/payment.svg"
        width="232"
        height="232"
        loading="lazy"
        alt="${solanaTransferRequest.alternative}"
      />
    </figure>
  </details>`;

const getAmountValues = (
  { instructions, token }: ManualPaymentOptions,
  { language }: Localization,
) => ({
  amount: renderAmount(formatAmount(instructions.amount), language),
  symbol: token.symbol,
});

const getHint = (instructions: PaymentInstructions, texts: Texts["manualPayment"]): string => {
  if ("transferRequestUrl" in instructions) return texts.solana;
  if ("address" in instructions) return texts.bitcoin;
  const calls = instructions.steps.flatMap(({ tron }) => tron ?? []);
  return fillPlaceholders(texts.tron, { energy: String(sumEnergy(calls)), fee: formatFee(calls) });
};

const sumEnergy = (calls: readonly TronCall[]): number =>
  calls.reduce((sum, { energyMax }) => sum + energyMax, 0);

const sunPerTrx = 1_000_000;

const formatFee = (calls: readonly TronCall[]): string => {
  const sun = calls.reduce((sum, { feeLimitSun }) => sum + feeLimitSun, 0n);
  return new Decimal(sun.toString()).div(sunPerTrx).ceil().toFixed();
};
