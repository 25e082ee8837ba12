import { Decimal, type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { TronCall } from "../domain/contract-instructions.ts";
import { type PaymentInstructions, paymentUri } from "../domain/payment-instructions.ts";
import type { ByHandTexts } from "./by-hand-texts.ts";
import { byHandTextsFor } from "./by-hand-texts-for.ts";
import { showAmount } from "./show-amount.ts";
import { showApps } from "./show-other-ways.ts";
import { type Words, fill } from "./words.ts";

type Part = {
  linkId: string;
  pageUrl: string;
  chainId: string;
  /** On Solana, where wallets can ask for it: it comes first, as rule CHAIN-23 says what it can. */
  requestUrl: string | null;
  instructions: PaymentInstructions;
  token: TokenData;
};

/** How a payer pays outside EVM: by a request that a wallet opens or scans, or on Tron by two calls. */
export const showByHand = (part: Part, words: Words): Html => {
  const { linkId, instructions, requestUrl, token } = part;
  const texts = byHandTextsFor(words);
  const uri = paymentUri(instructions);
  return html`<section id="by-hand" class="until-expiry">
    ${
      uri === undefined
        ? undefined
        : html`<p>
              <a class="primary" href="${requestUrl ?? uri}" rel="noreferrer"
                >${fillHtml(texts.open, amountOf(part, words))}</a
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
            ${showApps(part, words)}`
    }
    ${requestUrl === null || uri === undefined ? undefined : showTransferRequest(linkId, uri, texts)}
    <p class="quiet">${wordsOf(instructions, texts)}</p>
    <dl>
      <dt>${texts.amount}</dt>
      ${showCopied(formatAmount(instructions.amount), token.symbol, {
        label: texts.copyAmount,
        copy: words.texts.copy.copy,
      })}
      ${
        "address" in instructions
          ? html`<dt>${texts.address}</dt>
              ${showCopied(instructions.address, "", {
                label: words.texts.copy.to,
                copy: words.texts.copy.copy,
              })}`
          : undefined
      }
    </dl>
  </section>`;
};

/** Older wallets know nothing but the transfer request. It leaves amount, program and account to them. */
const showTransferRequest = (linkId: string, uri: string, { solanaOther }: ByHandTexts): Html =>
  html`<details id="transfer-request">
    <summary>${solanaOther.title}</summary>
    <p>${solanaOther.text}</p>
    <p><a href="${uri}" rel="noreferrer">${solanaOther.open}</a></p>
    <figure class="qr">
      <img
        src="/checkout/qr/${linkId}/payment.svg"
        width="232"
        height="232"
        loading="lazy"
        alt="${solanaOther.alternative}"
      />
    </figure>
  </details>`;

const amountOf = ({ instructions, token }: Part, { language }: Words) => ({
  amount: showAmount(formatAmount(instructions.amount), language),
  symbol: token.symbol,
});

const wordsOf = (instructions: PaymentInstructions, texts: ByHandTexts): string => {
  if ("transferRequestUrl" in instructions) return texts.solana;
  if ("address" in instructions) return texts.bitcoin;
  const calls = instructions.steps.flatMap(({ tron }) => tron ?? []);
  return fill(texts.tron, { energy: String(energyOf(calls)), fee: feeOf(calls) });
};

const energyOf = (calls: readonly TronCall[]): number =>
  calls.reduce((sum, { energyMax }) => sum + energyMax, 0);

const sunPerTrx = 1_000_000;

const feeOf = (calls: readonly TronCall[]): string => {
  const sun = calls.reduce((sum, { feeLimitSun }) => sum + feeLimitSun, 0n);
  return new Decimal(sun.toString()).div(sunPerTrx).ceil().toFixed();
};

/** A script of the page shows the button where the browser has a clipboard for it. */
const showCopied = (text: string, unit: string, words: { label: string; copy: string }): Html =>
  html`<dd>
    <code>${text}</code> ${unit}
    <button class="copy" type="button" data-copy="${text}" aria-label="${words.label}" hidden>
      ${words.copy}
    </button>
  </dd>`;
