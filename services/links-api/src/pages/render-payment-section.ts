import { type PaymentStep, getFamily } from "@payment-links/chains";
import { type CatalogueChain, type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { CallInstructions } from "../domain/payment-instructions.ts";
import type { PendingPayment } from "../store/payments.ts";
import { buildAssetUrl } from "./assets.ts";
import { renderExplorerLinkTemplate } from "./render-explorer-link.ts";
import { renderPendingPaymentNotice } from "./render-follow-section.ts";
import { renderNoWalletOptions } from "./render-no-wallet-options.ts";
import { renderAmount } from "./render-amount.ts";
import { renderCopyableValue } from "./render-copyable-value.ts";
import { type Localization, fillPlaceholders } from "./localization.ts";

type PaymentSectionOptions = {
  linkId: string;
  pageUrl: string;
  /** The rendered state. The script compares it with the current one to detect changes. */
  state: string;
  instructions: CallInstructions;
  pendingPayments: readonly PendingPayment[];
  token: TokenData;
  chain: CatalogueChain;
};

/**
 * Renders the section in which the payer pays. It is also correct without JavaScript, because the
 * HTML already contains pending payments. The script shows the pay button only if the browser has a
 * wallet.
 */
export const renderPaymentSection = (
  { linkId, pageUrl, state, instructions, pendingPayments, token, chain }: PaymentSectionOptions,
  localization: Localization,
): Html => {
  const { language, texts, tronTexts } = localization;
  const amount = formatAmount(instructions.amount);
  const { symbol } = token;
  const noWalletOptions = renderNoWalletOptions({ linkId, pageUrl, chain }, localization);
  const isTronWeb = getFamily(chain.chainType).browserWallets === "TronWeb";
  const scriptTexts = isTronWeb ? { ...texts.script, ...tronTexts } : texts.script;
  const pendingData = pendingPayments.map((payment) => ({
    id: payment.id,
    amount: formatAmount(payment.amount),
    sourceTransaction: payment.sourceTransaction,
    confirmations: payment.confirmations,
  }));
  return html`<section
    id="pay"
    data-link="${linkId}"
    data-state="${state}"
    data-scripts="${buildAssetUrl("page.js")} ${buildAssetUrl("followed.js")}"
    data-amount="${amount}"
    data-symbol="${symbol}"
    data-token="${token.isNative ? "" : token.address}"
    data-decimals="${token.decimals}"
    data-chain="${chain.id}"
    data-caip2="${chain.caip2}"
    data-chain-name="${chain.name}"
    data-coin="${chain.symbol}"
    data-rpc="${chain.publicRpcUrl ?? ""}"
    data-pending="${JSON.stringify(pendingData)}"
    data-texts="${JSON.stringify(scriptTexts)}"
  >
    <p id="live" role="status">
      ${renderPendingPaymentNotice(pendingPayments, token, localization)}
    </p>
    ${renderConfirmations(pendingPayments[0], localization)}
    <p class="while-payable">
      <button id="wallet" class="primary" type="button" hidden>
        ${fillHtml(texts.pay, { amount: renderAmount(amount, language), symbol })}
      </button>
    </p>
    <div id="wallets" class="while-payable" hidden><p>${texts.script.choose}</p></div>
    ${renderExplorerLinkTemplate(chain, localization)}
    <p id="account" class="quiet" hidden></p>
    <div id="no-wallet" class="while-payable" hidden>
      <p class="quiet">${scriptTexts.noWallet}</p>
      ${noWalletOptions}
    </div>
    <noscript>
      <div class="while-payable">
        <p class="quiet">${texts.noScript}</p>
        ${noWalletOptions}
      </div>
    </noscript>
    <p><button id="gone" type="button" hidden>${texts.script.gone}</button></p>
    ${renderConfirmGoneDialog(localization)}
  </section>`;
};

/**
 * Renders the number of confirmations. It is outside the live region, because it changes with every
 * block.
 */
const renderConfirmations = (
  pendingPayment: PendingPayment | undefined,
  { texts }: Localization,
): Html => {
  const confirmations = pendingPayment?.confirmations ?? undefined;
  if (confirmations === undefined) return html`<p id="confirming" class="quiet" hidden></p>`;
  const text = fillPlaceholders(texts.script.confirming, {
    seen: String(confirmations.seen),
    needed: String(confirmations.needed),
  });
  return html`<p id="confirming" class="quiet">${text}</p>`;
};

const renderConfirmGoneDialog = ({ texts }: Localization): Html =>
  html`<dialog id="confirm-gone" aria-labelledby="confirm-gone-title">
    <form method="dialog">
      <h2 id="confirm-gone-title">${texts.confirmGone.title}</h2>
      <p>${texts.confirmGone.text}</p>
      <p><button value="wait">${texts.confirmGone.wait}</button></p>
      <p><button value="gone">${texts.confirmGone.gone}</button></p>
    </form>
  </dialog>`;

/** Renders how to pay manually: each transaction, with values to copy. */
export const renderInstructions = (
  { proxyAddress, paymentReference, steps }: CallInstructions,
  token: TokenData,
  localization: Localization,
): Html => {
  const { texts } = localization;
  const { labels } = texts;
  return html`<div class="while-payable">
    <p class="quiet">${texts.plainTransfer}</p>
    <dl>
      <dt>${labels.paymentContract}</dt>
      <dd>${renderCopyableValue("paymentContract", proxyAddress, localization)}</dd>
      <dt>${labels.paymentReference}</dt>
      <dd>${renderCopyableValue("paymentReference", paymentReference, localization)}</dd>
    </dl>
    <h2>${texts.stepsTitle}</h2>
    <ol class="steps">
      ${steps.map((step) => renderStep(step, token, localization))}
    </ol>
  </div>`;
};

const renderStep = (
  { kind, to, value, data }: PaymentStep,
  token: TokenData,
  localization: Localization,
): Html => {
  const { texts } = localization;
  const { labels } = texts;
  return html`<li>
    <p>${texts.steps[kind]}</p>
    <dl>
      <dt>${labels.on}</dt>
      <dd>${fillPlaceholders(labels.chain, token.chain)}</dd>
      <dt>${labels.to}</dt>
      <dd>${renderCopyableValue("to", to, localization)}</dd>
      ${
        value === 0n
          ? undefined
          : html`<dt>${labels.value}</dt>
              <dd>${renderCopyableValue("value", String(value), localization)}</dd>`
      }
      <dt>${labels.data}</dt>
      <dd>${renderCopyableValue("data", data, localization)}</dd>
    </dl>
  </li>`;
};
