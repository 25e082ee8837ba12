import { type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { PaymentInstructions, PaymentStep } from "../domain/payment-instructions.ts";

const stepTexts: Readonly<Record<PaymentStep["kind"], string>> = {
  reset_allowance: "Take back an earlier allowance; not needed where there is none.",
  approve: "Allow the payment contract to move exactly this amount.",
  pay: "Pay: the contract moves it straight to the owner, under this link's reference.",
};

/**
 * How a payer pays from a wallet, transaction by transaction. The script that follows the link's
 * state shows its button only if the browser has a wallet. Without it the payer can copy everything
 * from here.
 */
export const showInstructions = (
  linkId: string,
  { amount, proxyAddress, paymentReference, steps }: PaymentInstructions,
  token: TokenData,
): Html =>
  html`<section id="pay" data-link="${linkId}" data-chain="${token.chain.id}">
    <h2>Pay ${formatAmount(amount)} ${token.symbol}</h2>
    <p id="live" role="status"></p>
    <p><button id="wallet" type="button" hidden>Pay with this browser's wallet</button></p>
    <p class="quiet">
      A plain transfer to the owner's address cannot be told apart and does not complete this link:
      pay through the contract below.
    </p>
    <dl>
      <dt>Payment contract</dt>
      <dd><code>${proxyAddress}</code></dd>
      <dt>Payment reference</dt>
      <dd><code>${paymentReference}</code></dd>
    </dl>
    <details>
      <summary>Transactions to send from your wallet, in this order</summary>
      <ol class="steps">
        ${steps.map((step) => showStep(step, token))}
      </ol>
    </details>
  </section>`;

const showStep = ({ kind, to, value, data }: PaymentStep, token: TokenData): Html =>
  html`<li>
    <p>${stepTexts[kind]}</p>
    <dl>
      <dt>On</dt>
      <dd>${token.chain.name} (chain ${token.chain.id})</dd>
      <dt>To</dt>
      <dd><code>${to}</code></dd>
      ${
        value === 0n
          ? undefined
          : html`<dt>Value, in base units</dt>
              <dd><code>${String(value)}</code></dd>`
      }
      <dt>Data</dt>
      <dd><code>${data}</code></dd>
    </dl>
  </li>`;
