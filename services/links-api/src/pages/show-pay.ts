import { type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { Payment } from "../domain/payment.ts";
import type { PaymentInstructions, PaymentStep } from "../domain/payment-instructions.ts";
import { checkoutTexts as texts, fill } from "./checkout-texts.ts";

const { labels } = texts;

type PayPart = {
  linkId: string;
  /** By which the script knows that the page is no longer true. */
  state: string;
  instructions: PaymentInstructions;
  pending: readonly Payment[];
  token: TokenData;
  publicRpcUrl: string | undefined;
};

/**
 * The one action of the page. What stands here is true without a script, too: payments that are on
 * their way are in the first HTML. The script shows the button only if the browser has a wallet.
 */
export const showPay = ({
  linkId,
  state,
  instructions,
  pending,
  token,
  publicRpcUrl,
}: PayPart): Html => {
  const amount = formatAmount(instructions.amount);
  const { symbol, chain } = token;
  const [seen] = pending;
  const shownPending = pending.map((payment) => ({
    id: payment.id,
    amount: formatAmount(payment.amount),
    sourceTransaction: payment.sourceTransaction,
  }));
  return html`<section
    id="pay"
    data-link="${linkId}"
    data-state="${state}"
    data-amount="${amount}"
    data-symbol="${symbol}"
    data-token="${token.isNative ? "" : token.address}"
    data-decimals="${token.decimals}"
    data-chain="${chain.id}"
    data-chain-name="${chain.name}"
    data-coin="${chain.symbol}"
    data-rpc="${publicRpcUrl ?? ""}"
    data-pending="${JSON.stringify(shownPending)}"
    data-texts="${JSON.stringify(texts.script)}"
  >
    <p id="live" role="status">
      ${
        seen === undefined
          ? undefined
          : fill(texts.seen, { amount: formatAmount(seen.amount), symbol })
      }
    </p>
    <p>
      <button id="wallet" class="primary" type="button" hidden>
        ${showPayWords(amount, symbol)}
      </button>
    </p>
    <div id="wallets" hidden><p>${texts.script.choose}</p></div>
    <p id="account" class="quiet" hidden></p>
    <p id="no-wallet" class="quiet" hidden>${texts.script.noWallet}</p>
    <noscript><p class="quiet">${texts.noScript}</p></noscript>
    <p><button id="gone" type="button" hidden>${texts.script.gone}</button></p>
    ${showConfirmGone()}
  </section>`;
};

const showPayWords = (amount: string, symbol: string): Html => {
  const [before, after] = fill(texts.pay, { symbol }).split("{amount}");
  return html`${before}<data value="${amount}">${amount}</data>${after}`;
};

const showConfirmGone = (): Html =>
  html`<dialog id="confirm-gone" aria-labelledby="confirm-gone-title">
    <form method="dialog">
      <h2 id="confirm-gone-title">${texts.confirmGone.title}</h2>
      <p>${texts.confirmGone.text}</p>
      <p><button value="wait">${texts.confirmGone.wait}</button></p>
      <p><button value="gone">${texts.confirmGone.gone}</button></p>
    </form>
  </dialog>`;

/** How a payer pays by hand, transaction by transaction: everything can be copied from here. */
export const showInstructions = (
  { proxyAddress, paymentReference, steps }: PaymentInstructions,
  token: TokenData,
): Html =>
  html`<p class="quiet">${texts.plainTransfer}</p>
    <dl>
      <dt>${labels.paymentContract}</dt>
      ${showCopied("paymentContract", proxyAddress)}
      <dt>${labels.paymentReference}</dt>
      ${showCopied("paymentReference", paymentReference)}
    </dl>
    <h2>${texts.stepsTitle}</h2>
    <ol class="steps">
      ${steps.map((step) => showStep(step, token))}
    </ol>`;

const showStep = ({ kind, to, value, data }: PaymentStep, token: TokenData): Html =>
  html`<li>
    <p>${texts.steps[kind]}</p>
    <dl>
      <dt>${labels.on}</dt>
      <dd>${fill(labels.chain, token.chain)}</dd>
      <dt>${labels.to}</dt>
      ${showCopied("to", to)}
      ${
        value === 0n
          ? undefined
          : html`<dt>${labels.value}</dt>
              ${showCopied("value", String(value))}`
      }
      <dt>${labels.data}</dt>
      ${showCopied("data", data)}
    </dl>
  </li>`;

/** A script of the page shows the button where the browser has a clipboard for it. */
const showCopied = (name: keyof typeof texts.copy, text: string): Html =>
  html`<dd>
    <code>${text}</code>
    <button class="copy" type="button" data-copy="${text}" aria-label="${texts.copy[name]}" hidden>
      ${texts.copy.copy}
    </button>
  </dd>`;
