import type { Request, Response } from "express";
import {
  buildCheckoutPageUrl,
  formatAmount,
  isId,
  createApiError,
  buildTransactionPageUrl,
} from "@payment-links/contracts";
import { check } from "@payment-links/design/icons";
import { parsePathParameter, type Html, html } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { type Payment, isSimulated } from "../domain/payment.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import { buildReturnUrl } from "../domain/return-url.ts";
import { findAppliedPayment } from "../store/payments.ts";
import { sendPage } from "./send-page.ts";
import { groupDigits, renderAmount } from "./render-amount.ts";
import { renderExplorerLink } from "./render-explorer-link.ts";
import { renderIcon } from "./render-icon.ts";
import { renderBackground, renderOwner, renderProfile } from "./render-owner.ts";
import { toPlainLine, renderPreview } from "./render-preview.ts";
import { type ReceiptFormState, renderReceiptForm } from "./render-receipt-form.ts";
import { isPaid } from "./render-state.ts";
import { renderTestNotice } from "./render-test-notice.ts";
import { renderTime } from "./render-time.ts";
import { renderTokenRows } from "./render-token.ts";
import { type Localization, fillPlaceholders, getLocalization } from "./localization.ts";

/** GET /tx/:id: returns the receipt of an applied payment. */
export const getTransactionPage =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const receipt = await requireReceipt(dependencies, req);
    const result = req.query["receipt"] === "sent" ? "sent" : undefined;
    sendReceiptPage(dependencies, { res, receipt, formState: { result } });
  };

/** A payment with its link, in the language of the visitor. */
export type Receipt = { payment: Payment; link: OwnedLinkView; localization: Localization };

/**
 * Returns the receipt that a request's path names. Throws NOT_FOUND for a payment that was not
 * applied, because it does not have a receipt.
 */
export const requireReceipt = async (
  dependencies: Dependencies,
  req: Request,
): Promise<Receipt> => {
  const paymentId = parsePathParameter(req, "id");
  const payment = isId("tx", paymentId)
    ? await findAppliedPayment(dependencies.pool, paymentId)
    : undefined;
  if (payment === undefined) throw createApiError("NOT_FOUND");
  const link = await dependencies.findLinkView(payment.linkId);
  if (link === undefined) throw createApiError("NOT_FOUND");
  return { payment, link, localization: getLocalization(req) };
};

/**
 * Returns whether a receipt can be sent by email. There is none for a simulated payment. The
 * operator ends abuse by suspending a shop.
 */
export const offersEmail = (
  { hasEmail }: Pick<Dependencies, "hasEmail">,
  { link, payment }: Pick<Receipt, "link" | "payment">,
): boolean => hasEmail && link.owner.isSuspended !== true && !isSimulated(payment);

type ReceiptPage = {
  res: Response;
  receipt: Receipt;
  formState: ReceiptFormState;
  status?: number;
};

/** Sends the page of a receipt, with the form that sends it by email. */
export const sendReceiptPage = (
  dependencies: Dependencies,
  { res, receipt, formState, status = 200 }: ReceiptPage,
): void => {
  const { payment, link, localization } = receipt;
  const { symbol } = dependencies.getToken(link.tokenId).tokenData;
  const { language, texts } = localization;
  const amount = groupDigits(formatAmount(payment.amount), language);
  const titleValues = { amount, symbol, owner: link.owner.username };
  const title = toPlainLine(fillPlaceholders(texts.receipt.title, titleValues));
  const { checkoutUrl } = dependencies;
  const url = buildTransactionPageUrl(checkoutUrl, payment.id);
  sendPage(res, {
    language,
    title,
    status,
    body: renderReceipt(dependencies, receipt, formState),
    head: renderPreview({ ...link, title, url, checkoutUrl }),
    script: "page.js",
    policy: "scripted",
  });
};

const renderReceipt = (
  dependencies: Dependencies,
  { payment, link, localization }: Receipt,
  formState: ReceiptFormState,
): Html => {
  const { language, texts } = localization;
  const { tokenData, token } = dependencies.getToken(link.tokenId);
  const amount = renderAmount(formatAmount(payment.amount), language);
  const url = buildCheckoutPageUrl(dependencies.checkoutUrl, link.owner.handle, link.id);
  const returnUrl = isPaid({ status: link.status, link })
    ? buildReturnUrl(link.owner.returnUrl, link.id)
    : null;
  return html`${renderBackground(link.owner)}
    <main class="card">
      ${renderTestNotice(link, token.chain, localization)}
      <div class="order">
        ${renderOwner(dependencies.checkoutUrl, link.owner)}
        <div class="paid">
          <div class="paid-mark">${renderIcon(check, 32)}</div>
          <p class="paid-label">${texts.receipt.state}</p>
          <h1 class="amount">
            <span>${amount} <span class="unit">${tokenData.symbol}</span></span>
          </h1>
          ${link.description === null ? undefined : html`<p class="description" dir="auto">${link.description}</p>`}
        </div>
      </div>
      ${renderReceiptRows(payment, { link, token, tokenData, localization })}
      <p class="actions">
        ${returnUrl === null ? undefined : html`<a class="primary" href="${returnUrl}">${texts.returnToShop}</a>`}
        <button id="print" type="button" hidden>${texts.receipt.print}</button>
        <a class="button" href="${url}">${texts.receipt.link}</a>
      </p>
      ${
        offersEmail(dependencies, { link, payment })
          ? renderReceiptForm(payment.id, formState, localization)
          : undefined
      }
      ${renderProfile(link.owner)}
    </main>`;
};

type ReceiptContext = Pick<Receipt, "link" | "localization"> & ReturnType<Dependencies["getToken"]>;

const renderReceiptRows = (
  payment: Payment,
  { link, token, tokenData, localization }: ReceiptContext,
): Html => {
  const { language, texts } = localization;
  const { receipt } = texts;
  const { symbol } = tokenData;
  const { sourceTransaction } = payment;
  return html`<dl class="rows">
    ${renderRow(receipt.amount, html`${renderAmount(formatAmount(payment.amount), language)} ${symbol}`)}
    ${renderRow(receipt.asked, html`${renderAmount(link.toAmount, language)} ${symbol}`)}
    ${renderRow(receipt.received, html`${renderAmount(link.receivedAmount, language)} ${symbol}`)}
    ${renderRow(receipt.paid, renderTime(payment.occurredAt, language))}
    ${renderTokenRows(tokenData, localization)}
    ${renderRow(receipt.paidTo, html`<code>${payment.destinationAddress}</code>`)}
    ${
      sourceTransaction === null
        ? undefined
        : renderRow(
            receipt.sourceTransaction,
            html`<code>${sourceTransaction}</code>
              ${renderExplorerLink(payment, token.chain, localization)}`,
          )
    }
    ${renderRow(receipt.id, html`<code>${payment.id}</code>`)}
  </dl>`;
};

const renderRow = (label: string, value: Html): Html =>
  html`<div>
    <dt>${label}</dt>
    <dd>${value}</dd>
  </div>`;
