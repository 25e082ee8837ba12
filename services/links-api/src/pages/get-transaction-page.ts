import type { Request, Response } from "express";
import {
  checkoutPageUrl,
  formatAmount,
  isId,
  refuse,
  transactionPageUrl,
} from "@payment-links/contracts";
import { readParam, type Html, html } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import type { Payment } from "../domain/payment.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import { findAppliedPayment } from "../store/payments.ts";
import { answerPage } from "./answer-page.ts";
import { groupDigits, showAmount } from "./show-amount.ts";
import { showExplorerLink } from "./show-explorer-link.ts";
import { showGround, showOwner, showProfile } from "./show-owner.ts";
import { plainText, showPreview } from "./show-preview.ts";
import { showTestNetwork } from "./show-test-network.ts";
import { showTime } from "./show-time.ts";
import { showContract, showToken } from "./show-token.ts";
import { type Words, fill, wordsFor } from "./words.ts";

/** GET /tx/:id: the receipt of a payment that settled and counts. Other payments have none. */
export const getTransactionPage =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const paymentId = readParam(req, "id");
    const payment = isId("tx", paymentId)
      ? await findAppliedPayment(deps.pool, paymentId)
      : undefined;
    if (payment === undefined) throw refuse("NOT_FOUND");
    const link = await deps.findLinkView(payment.linkId);
    if (link === undefined) throw refuse("NOT_FOUND");
    const { symbol } = deps.tokenOf(link.tokenId).shown;
    const words = wordsFor(req);
    const { language, texts } = words;
    const amount = groupDigits(formatAmount(payment.amount), language);
    const said = { amount, symbol, owner: link.owner.username };
    const title = plainText(fill(texts.receipt.title, said));
    const { checkoutUrl } = deps;
    const url = transactionPageUrl(checkoutUrl, payment.id);
    answerPage(res, {
      language,
      title,
      body: showReceipt(deps, { payment, link, words }),
      head: showPreview({ ...link, title, url, checkoutUrl }),
      script: "page.js",
      policy: "scripted",
    });
  };

type Receipt = { payment: Payment; link: OwnedLinkView; words: Words };

const showReceipt = (deps: Deps, { payment, link, words }: Receipt): Html => {
  const {
    language,
    texts: { receipt: texts },
  } = words;
  const {
    shown: token,
    token: { chain },
  } = deps.tokenOf(link.tokenId);
  const { sourceTransaction } = payment;
  const url = checkoutPageUrl(deps.checkoutUrl, link.owner.handle, link.id);
  return html`${showGround(link.owner)}
    <main class="card">
      ${showTestNetwork(chain, words)} ${showOwner(link.owner)}
      <h1 class="amount">
        ${showAmount(formatAmount(payment.amount), language)}
        <span class="unit">${token.symbol}</span>
      </h1>
      <p class="state"><span class="badge completed">${texts.badge}</span> ${texts.state}</p>
      ${link.description === null ? undefined : html`<p class="description" dir="auto">${link.description}</p>`}
      <dl>
        ${showToken(token, words)} ${showContract(token, words)}
        <dt>${texts.amount}</dt>
        <dd>${showAmount(formatAmount(payment.amount), language)} ${token.symbol}</dd>
        <dt>${texts.asked}</dt>
        <dd>${showAmount(link.toAmount, language)} ${token.symbol}</dd>
        <dt>${texts.received}</dt>
        <dd>${showAmount(link.receivedAmount, language)} ${token.symbol}</dd>
        <dt>${texts.paidTo}</dt>
        <dd><code>${payment.destinationAddress}</code></dd>
        ${
          sourceTransaction === null
            ? undefined
            : html`<dt>${texts.sourceTransaction}</dt>
                <dd>
                  <code>${sourceTransaction}</code> ${showExplorerLink(payment, chain, words)}
                </dd>`
        }
        <dt>${texts.paid}</dt>
        <dd>${showTime(payment.occurredAt, language)}</dd>
        <dt>${texts.id}</dt>
        <dd><code>${payment.id}</code></dd>
      </dl>
      <p><a href="${url}">${texts.link}</a></p>
      <p><button id="print" type="button" hidden>${texts.print}</button></p>
      ${showProfile(link.owner)}
    </main>`;
};
