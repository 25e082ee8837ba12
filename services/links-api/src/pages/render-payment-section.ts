import { type PaymentStep, type TronCall, getFamily } from "@payment-links/chains";
import {
  type CatalogueChain,
  Decimal,
  type TokenData,
  formatAmount,
} from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { CallInstructions } from "../domain/payment-instructions.ts";
import type { PendingPayment } from "../store/payments.ts";
import { buildAssetUrl } from "./assets.ts";
import { renderExplorerLinkTemplate } from "./render-explorer-link.ts";
import { renderPendingPaymentNotice } from "./render-follow-section.ts";
import { renderAmount } from "./render-amount.ts";
import { renderAmountRow, renderNetworkRow } from "./render-amount-rows.ts";
import { renderCopyRow } from "./render-copy-row.ts";
import { renderQrCode } from "./render-qr-code.ts";
import { renderStepper } from "./render-stepper.ts";
import { renderWalletApps } from "./render-wallet-apps.ts";
import { type Localization, fillPlaceholders } from "./localization.ts";

type PaymentSectionOptions = {
  linkId: string;
  /** The rendered state. The script compares it with the current one to detect changes. */
  state: string;
  instructions: CallInstructions;
  pendingPayments: readonly PendingPayment[];
  token: TokenData;
  chain: CatalogueChain;
};

/**
 * Renders the progress of a payment, and the data for the page's script. It is also correct without
 * JavaScript, because the HTML already contains pending payments.
 */
export const renderPaymentSection = (
  { linkId, state, instructions, pendingPayments, token, chain }: PaymentSectionOptions,
  localization: Localization,
): Html => {
  const { texts } = localization;
  const pendingNotice = renderPendingPaymentNotice(pendingPayments, token, localization);
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
    data-amount="${formatAmount(instructions.amount)}"
    data-symbol="${token.symbol}"
    data-token="${token.isNative ? "" : token.address}"
    data-decimals="${token.decimals}"
    data-chain="${chain.id}"
    data-caip2="${chain.caip2}"
    data-chain-name="${chain.name}"
    data-coin="${chain.symbol}"
    data-rpc="${chain.publicRpcUrl ?? ""}"
    data-pending="${JSON.stringify(pendingData)}"
    data-texts="${JSON.stringify(getScriptTexts(chain, localization))}"
  >
    ${renderStepper(pendingPayments[0], localization)}
    <p id="live" role="status">${pendingNotice}</p>
    <p id="account" class="quiet" hidden></p>
    ${renderExplorerLinkTemplate(chain, localization)}
    <p class="actions">
      <button id="gone" type="button" hidden>${texts.script.gone}</button>
      <button id="other-method" type="button" hidden>${texts.script.otherMethod}</button>
    </p>
    ${renderConfirmGoneDialog(localization)}
  </section>`;
};

/** Returns whether browser wallets of a chain provide `tronWeb`. */
export const isTronWeb = ({ chainType }: CatalogueChain): boolean =>
  getFamily(chainType).browserWallets === "TronWeb";

const getScriptTexts = (chain: CatalogueChain, { texts, tronTexts }: Localization) =>
  isTronWeb(chain) ? { ...texts.script, ...tronTexts } : texts.script;

type CallOptions = Pick<PaymentSectionOptions, "linkId" | "instructions" | "token" | "chain"> & {
  pageUrl: string;
};

/**
 * Renders how to pay with calls, on EVM and Tron: in a wallet of this browser, or on a phone. The
 * script shows the pay button only if the browser has a wallet.
 */
export const renderCallOptions = (
  { linkId, pageUrl, instructions, token, chain }: CallOptions,
  localization: Localization,
): Record<"wallet" | "qr", Html> => {
  const { language, texts } = localization;
  const amount = formatAmount(instructions.amount);
  const { symbol } = token;
  const linkRow = { label: texts.labels.link, name: "link", text: pageUrl } as const;
  return {
    wallet: html`<div id="wallet-actions">
      <button id="wallet" class="primary" type="button" hidden>
        <span>${fillHtml(texts.pay, { amount: renderAmount(amount, language), symbol })}</span>
      </button>
      <div id="wallets" class="wallets" hidden><p>${texts.script.choose}</p></div>
      ${renderWalletApps({ pageUrl, chain, isMainAction: true }, localization)}
      <p id="no-wallet" class="quiet" hidden>${getScriptTexts(chain, localization).noWallet}</p>
      <noscript><p class="quiet">${texts.noScript}</p></noscript>
    </div>`,
    qr: html`${renderQrCode({ path: `/checkout/qr/${linkId}.svg`, ...texts.qr })}
      <dl class="rows">
        ${renderAmountRow(amount, symbol, localization)} ${renderNetworkRow(chain, localization)}
        ${renderCopyRow(linkRow, localization)}
      </dl>`,
  };
};

const renderConfirmGoneDialog = ({ texts }: Localization): Html =>
  html`<dialog id="confirm-gone" aria-labelledby="confirm-gone-title">
    <form method="dialog">
      <h2 id="confirm-gone-title">${texts.confirmGone.title}</h2>
      <p>${texts.confirmGone.text}</p>
      <p class="actions">
        <button value="wait">${texts.confirmGone.wait}</button>
        <button value="gone" class="danger">${texts.confirmGone.gone}</button>
      </p>
    </form>
  </dialog>`;

/** Renders how to pay manually: each transaction, with values to copy. */
export const renderInstructions = (
  { proxyAddress, paymentReference, steps }: CallInstructions,
  token: TokenData,
  localization: Localization,
): Html => {
  const { texts, tronTexts } = localization;
  const { labels } = texts;
  const calls = steps.flatMap(({ tron }) => tron ?? []);
  const contractRow = { label: labels.paymentContract, name: "paymentContract" } as const;
  const referenceRow = { label: labels.paymentReference, name: "paymentReference" } as const;
  return html`<div class="while-payable">
    <p class="quiet">${texts.plainTransfer}</p>
    ${calls.length === 0 ? undefined : html`<p class="quiet">${describeFee(calls, tronTexts)}</p>`}
    <dl class="rows">
      ${renderCopyRow({ ...contractRow, text: proxyAddress }, localization)}
      ${renderCopyRow({ ...referenceRow, text: paymentReference }, localization)}
    </dl>
    <h2>${texts.stepsTitle}</h2>
    <ol class="steps">
      ${steps.map((step) => renderStep(step, token, localization))}
    </ol>
  </div>`;
};

/** Describes the most that the calls of a manual payment can cost on Tron. */
const describeFee = (calls: readonly TronCall[], { manual }: Localization["tronTexts"]): string => {
  const energy = calls.reduce((sum, { energyMax }) => sum + energyMax, 0);
  const sun = calls.reduce((sum, { feeLimitSun }) => sum + feeLimitSun, 0n);
  const fee = new Decimal(sun.toString()).div(sunPerTrx).ceil().toFixed();
  return fillPlaceholders(manual, { energy: String(energy), fee });
};

const sunPerTrx = 1_000_000;

const renderStep = (
  { kind, to, value, data }: PaymentStep,
  token: TokenData,
  localization: Localization,
): Html => {
  const { texts } = localization;
  const { labels } = texts;
  return html`<li>
    <p>${texts.steps[kind]}</p>
    <dl class="rows">
      <div>
        <dt>${labels.on}</dt>
        <dd>${fillPlaceholders(labels.chain, token.chain)}</dd>
      </div>
      ${renderCopyRow({ label: labels.to, name: "to", text: to }, localization)}
      ${
        value === 0n
          ? undefined
          : renderCopyRow({ label: labels.value, name: "value", text: String(value) }, localization)
      }
      ${renderCopyRow({ label: labels.data, name: "data", text: data }, localization)}
    </dl>
  </li>`;
};
