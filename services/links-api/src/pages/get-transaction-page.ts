import type { Request, Response } from "express";
import {
  buildCheckoutPageUrl,
  formatAmount,
  isId,
  createApiError,
  buildTransactionPageUrl,
} from "@payment-links/contracts";
import { parsePathParameter, type Html, html } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import type { Payment } from "../domain/payment.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import { findAppliedPayment } from "../store/payments.ts";
import { sendPage } from "./send-page.ts";
import { groupDigits, renderAmount } from "./render-amount.ts";
import { renderExplorerLink } from "./render-explorer-link.ts";
import { renderBackground, renderOwner, renderProfile } from "./render-owner.ts";
import { toPlainLine, renderPreview } from "./render-preview.ts";
import { renderTestNetworkNotice } from "./render-test-network-notice.ts";
import { renderTime } from "./render-time.ts";
import { renderTokenContract, renderToken } from "./render-token.ts";
import { type Localization, fillPlaceholders, getLocalization } from "./localization.ts";

/**
 * GET /tx/:id: returns the receipt of an applied payment. Payments that were not applied do not
 * have a receipt.
 */
export const getTransactionPage =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const paymentId = parsePathParameter(req, "id");
    const payment = isId("tx", paymentId)
      ? await findAppliedPayment(dependencies.pool, paymentId)
      : undefined;
    if (payment === undefined) throw createApiError("NOT_FOUND");
    const link = await dependencies.findLinkView(payment.linkId);
    if (link === undefined) throw createApiError("NOT_FOUND");
    const { symbol } = dependencies.getToken(link.tokenId).tokenData;
    const localization = getLocalization(req);
    const { language, texts } = localization;
    const amount = groupDigits(formatAmount(payment.amount), language);
    const titleValues = { amount, symbol, owner: link.owner.username };
    const title = toPlainLine(fillPlaceholders(texts.receipt.title, titleValues));
    const { checkoutUrl } = dependencies;
    const url = buildTransactionPageUrl(checkoutUrl, payment.id);
    sendPage(res, {
      language,
      title,
      body: renderReceipt(dependencies, { payment, link, localization }),
      head: renderPreview({ ...link, title, url, checkoutUrl }),
      script: "page.js",
      policy: "scripted",
    });
  };

type Receipt = { payment: Payment; link: OwnedLinkView; localization: Localization };

const renderReceipt = (
  dependencies: Dependencies,
  { payment, link, localization }: Receipt,
): Html => {
  const {
    language,
    texts: { receipt: texts },
  } = localization;
  const {
    tokenData,
    token: { chain },
  } = dependencies.getToken(link.tokenId);
  const { sourceTransaction } = payment;
  const url = buildCheckoutPageUrl(dependencies.checkoutUrl, link.owner.handle, link.id);
  return html`${renderBackground(link.owner)}
    <main class="card">
      ${renderTestNetworkNotice(chain, localization)} ${renderOwner(link.owner)}
      <h1 class="amount">
        ${renderAmount(formatAmount(payment.amount), language)}
        <span class="unit">${tokenData.symbol}</span>
      </h1>
      <p class="state"><span class="badge completed">${texts.badge}</span> ${texts.state}</p>
      ${link.description === null ? undefined : html`<p class="description" dir="auto">${link.description}</p>`}
      <dl>
        ${renderToken(tokenData, localization)} ${renderTokenContract(tokenData, localization)}
        <dt>${texts.amount}</dt>
        <dd>${renderAmount(formatAmount(payment.amount), language)} ${tokenData.symbol}</dd>
        <dt>${texts.asked}</dt>
        <dd>${renderAmount(link.toAmount, language)} ${tokenData.symbol}</dd>
        <dt>${texts.received}</dt>
        <dd>${renderAmount(link.receivedAmount, language)} ${tokenData.symbol}</dd>
        <dt>${texts.paidTo}</dt>
        <dd><code>${payment.destinationAddress}</code></dd>
        ${
          sourceTransaction === null
            ? undefined
            : html`<dt>${texts.sourceTransaction}</dt>
                <dd>
                  <code>${sourceTransaction}</code>
                  ${renderExplorerLink(payment, chain, localization)}
                </dd>`
        }
        <dt>${texts.paid}</dt>
        <dd>${renderTime(payment.occurredAt, language)}</dd>
        <dt>${texts.id}</dt>
        <dd><code>${payment.id}</code></dd>
      </dl>
      <p><a href="${url}">${texts.link}</a></p>
      <p><button id="print" type="button" hidden>${texts.print}</button></p>
      ${renderProfile(link.owner)}
    </main>`;
};
