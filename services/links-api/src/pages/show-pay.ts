import { type CatalogueChain, type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { PaymentStep } from "../domain/contract-instructions.ts";
import type { CallInstructions } from "../domain/payment-instructions.ts";
import type { PendingPayment } from "../store/payments.ts";
import { assetUrl } from "./assets.ts";
import type { CheckoutTexts } from "./checkout-texts.ts";
import { showExplorerPlace } from "./show-explorer-link.ts";
import { showSeen } from "./show-followed.ts";
import { showOtherWays } from "./show-other-ways.ts";
import { showAmount } from "./show-amount.ts";
import { tronTextsFor } from "./tron-texts-for.ts";
import { type Words, fill } from "./words.ts";

type PayPart = {
  linkId: string;
  pageUrl: string;
  /** By which the script knows that the page is no longer true. */
  state: string;
  instructions: CallInstructions;
  pending: readonly PendingPayment[];
  token: TokenData;
  chain: CatalogueChain;
};

/**
 * The one action of the page. What stands here is true without a script, too: payments that are on
 * their way are in the first HTML. The script shows the button only if the browser has a wallet.
 */
export const showPay = (
  { linkId, pageUrl, state, instructions, pending, token, chain }: PayPart,
  words: Words,
): Html => {
  const { language, texts } = words;
  const amount = formatAmount(instructions.amount);
  const { symbol } = token;
  const otherWays = showOtherWays({ linkId, pageUrl, chainId: chain.id }, words);
  const script =
    chain.chainType === "TVM" ? { ...texts.script, ...tronTextsFor(words) } : texts.script;
  const shownPending = pending.map((payment) => ({
    id: payment.id,
    amount: formatAmount(payment.amount),
    sourceTransaction: payment.sourceTransaction,
    confirmations: payment.confirmations,
  }));
  return html`<section
    id="pay"
    data-link="${linkId}"
    data-state="${state}"
    data-scripts="${assetUrl("page.js")} ${assetUrl("followed.js")}"
    data-amount="${amount}"
    data-symbol="${symbol}"
    data-token="${token.isNative ? "" : token.address}"
    data-decimals="${token.decimals}"
    data-chain="${chain.id}"
    data-caip2="${chain.caip2}"
    data-chain-name="${chain.name}"
    data-coin="${chain.symbol}"
    data-rpc="${chain.publicRpcUrl ?? ""}"
    data-pending="${JSON.stringify(shownPending)}"
    data-texts="${JSON.stringify(script)}"
  >
    <p id="live" role="status">${showSeen(pending, token, words)}</p>
    ${showConfirming(pending[0], words)}
    <p class="until-expiry">
      <button id="wallet" class="primary" type="button" hidden>
        ${fillHtml(texts.pay, { amount: showAmount(amount, language), symbol })}
      </button>
    </p>
    <div id="wallets" class="until-expiry" hidden><p>${texts.script.choose}</p></div>
    ${showExplorerPlace(chain, words)}
    <p id="account" class="quiet" hidden></p>
    <div id="no-wallet" class="until-expiry" hidden>
      <p class="quiet">${script.noWallet}</p>
      ${otherWays}
    </div>
    <noscript>
      <p class="quiet">${texts.noScript}</p>
      ${otherWays}
    </noscript>
    <p><button id="gone" type="button" hidden>${texts.script.gone}</button></p>
    ${showConfirmGone(words)}
  </section>`;
};

/** Apart from what is read out, as it changes with every block. */
const showConfirming = (seen: PendingPayment | undefined, { texts }: Words): Html => {
  const confirmations = seen?.confirmations ?? undefined;
  if (confirmations === undefined) return html`<p id="confirming" class="quiet" hidden></p>`;
  const text = fill(texts.script.confirming, {
    seen: String(confirmations.seen),
    needed: String(confirmations.needed),
  });
  return html`<p id="confirming" class="quiet">${text}</p>`;
};

const showConfirmGone = ({ texts }: Words): Html =>
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
  { proxyAddress, paymentReference, steps }: CallInstructions,
  token: TokenData,
  words: Words,
): Html => {
  const { texts } = words;
  const { labels } = texts;
  return html`<div class="until-expiry">
    <p class="quiet">${texts.plainTransfer}</p>
    <dl>
      <dt>${labels.paymentContract}</dt>
      ${showCopied("paymentContract", proxyAddress, words)}
      <dt>${labels.paymentReference}</dt>
      ${showCopied("paymentReference", paymentReference, words)}
    </dl>
    <h2>${texts.stepsTitle}</h2>
    <ol class="steps">
      ${steps.map((step) => showStep(step, token, words))}
    </ol>
  </div>`;
};

const showStep = ({ kind, to, value, data }: PaymentStep, token: TokenData, words: Words): Html => {
  const { texts } = words;
  const { labels } = texts;
  return html`<li>
    <p>${texts.steps[kind]}</p>
    <dl>
      <dt>${labels.on}</dt>
      <dd>${fill(labels.chain, token.chain)}</dd>
      <dt>${labels.to}</dt>
      ${showCopied("to", to, words)}
      ${
        value === 0n
          ? undefined
          : html`<dt>${labels.value}</dt>
              ${showCopied("value", String(value), words)}`
      }
      <dt>${labels.data}</dt>
      ${showCopied("data", data, words)}
    </dl>
  </li>`;
};

/** A script of the page shows the button where the browser has a clipboard for it. */
const showCopied = (name: keyof CheckoutTexts["copy"], text: string, { texts }: Words): Html =>
  html`<dd>
    <code>${text}</code>
    <button class="copy" type="button" data-copy="${text}" aria-label="${texts.copy[name]}" hidden>
      ${texts.copy.copy}
    </button>
  </dd>`;
