import { getPaymentUri } from "@payment-links/chains";
import { type CatalogueChain, type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { PaymentInstructions } from "../domain/payment-instructions.ts";
import { renderAmount } from "./render-amount.ts";
import { renderAmountRow, renderNetworkRow } from "./render-amount-rows.ts";
import { renderCopyRow } from "./render-copy-row.ts";
import { renderQrCode } from "./render-qr-code.ts";
import { renderWalletApps } from "./render-wallet-apps.ts";
import type { Localization } from "./localization.ts";

type RequestOptions = {
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
 * Renders how to pay with a payment request that a wallet opens or scans, on Solana and Bitcoin. The
 * hint below the request says what the payer must not do.
 */
export const renderRequestOptions = (
  options: RequestOptions,
  localization: Localization,
): Record<"wallet" | "qr", Html> => {
  const { linkId, chain, instructions, requestUrl, token } = options;
  const { texts, manualPaymentTexts } = localization;
  const uri = getPaymentUri(instructions) ?? "";
  const amount = formatAmount(instructions.amount);
  const hint = html`<p class="quiet">${getHint(instructions, localization)}</p>`;
  const values = { amount: renderAmount(amount, localization.language), symbol: token.symbol };
  return {
    wallet: html`<a class="primary" href="${requestUrl ?? uri}" rel="noreferrer"
        ><span>${fillHtml(manualPaymentTexts.payInWallet, values)}</span></a
      >
      ${renderWalletApps({ ...options, isMainAction: false }, localization)}
      ${requestUrl === null ? undefined : renderTransferRequest(linkId, uri, localization)} ${hint}`,
    qr: html`${renderQrCode({
        path: `/checkout/qr/${linkId}/${requestUrl === null ? "payment" : "request"}.svg`,
        ...manualPaymentTexts.qr,
      })}
      <dl class="rows">
        ${renderAmountRow(amount, token.symbol, localization)}
        ${renderNetworkRow(chain, localization)}
        ${
          "address" in instructions
            ? renderCopyRow(
                { label: texts.labels.address, name: "to", text: instructions.address },
                localization,
              )
            : undefined
        }
      </dl>
      ${hint}`,
  };
};

/**
 * Renders the transfer request for older wallets, which do not support transaction requests. With a
 * transfer request, the wallet itself creates the transfer.
 */
const renderTransferRequest = (
  linkId: string,
  uri: string,
  { manualPaymentTexts: { solanaTransferRequest: texts } }: Localization,
): Html =>
  html`<details id="transfer-request">
    <summary>${texts.title}</summary>
    <p>${texts.text}</p>
    <p><a href="${uri}" rel="noreferrer">${texts.payWithRequest}</a></p>
    ${renderQrCode({ path: `/checkout/qr/${linkId}/payment.svg`, alternative: texts.alternative })}
  </details>`;

const getHint = (
  instructions: PaymentInstructions,
  { manualPaymentTexts: texts }: Localization,
): string => ("transferRequestUrl" in instructions ? texts.solana : texts.bitcoin);
