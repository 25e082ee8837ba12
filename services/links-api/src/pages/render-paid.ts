import { check } from "@payment-links/design/icons";
import { buildTransactionPageUrl } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import type { Payment } from "../domain/payment.ts";
import { buildReturnUrl } from "../domain/return-url.ts";
import { renderAmount } from "./render-amount.ts";
import { renderIcon } from "./render-icon.ts";
import type { CheckoutState } from "./render-state.ts";
import { renderTime } from "./render-time.ts";

type PaidOptions = Pick<CheckoutState, "link" | "token" | "localization"> & {
  /** The payment that completed the link. */
  lastPayment: Payment | undefined;
};

/** Renders the result of a link that has received its whole amount. */
export const renderPaid = (
  { checkoutUrl }: Dependencies,
  { link, token, lastPayment, localization }: PaidOptions,
): Html => {
  const { language, texts } = localization;
  const receiptUrl = lastPayment ? buildTransactionPageUrl(checkoutUrl, lastPayment.id) : null;
  const returnUrl = buildReturnUrl(link.owner.returnUrl, link.id);
  const amount = renderAmount(link.receivedAmount, language);
  const owner = html`<bdi>${link.owner.username}</bdi>`;
  const renderLink = (url: string | null, text: string, className: string) =>
    url === null ? undefined : html`<a class="${className}" href="${url}">${text}</a>`;
  return html`<div class="paid">
    <div class="paid-mark">${renderIcon(check, 32)}</div>
    <p class="paid-label">${texts.states.completed}</p>
    <h1 class="state">${fillHtml(texts.paidTo, { amount, symbol: token.symbol, owner })}</h1>
    ${lastPayment && html`<p class="quiet">${renderTime(lastPayment.occurredAt, language)}</p>`}
    <p class="actions">
      ${renderLink(returnUrl, texts.returnToShop, "primary")}
      ${renderLink(receiptUrl, texts.lastReceipt, returnUrl === null ? "primary" : "button")}
    </p>
  </div>`;
};
