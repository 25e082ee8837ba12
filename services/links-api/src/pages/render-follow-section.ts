import { type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { Payment } from "../domain/payment.ts";
import type { PendingPayment } from "../store/payments.ts";
import type { NoInstructionsReason } from "../domain/payment-instructions.ts";
import { buildAssetUrl } from "./assets.ts";
import { renderAmount } from "./render-amount.ts";
import { renderStepper } from "./render-stepper.ts";
import type { Localization } from "./localization.ts";

/** Renders the notice about the newest pending payment, if there is one. */
export const renderPendingPaymentNotice = (
  [pendingPayment]: readonly Payment[],
  { symbol }: TokenData,
  { language, texts }: Localization,
): Html | undefined => {
  if (pendingPayment === undefined) return undefined;
  return fillHtml(texts.seen, {
    amount: renderAmount(formatAmount(pendingPayment.amount), language),
    symbol,
  });
};

type FollowOptions = {
  link: { id: string; receivedAmount: string };
  status: string;
  /**
   * Why the link cannot be paid on this page. Null if it can be paid, but not by the page's script.
   */
  reason: NoInstructionsReason | null;
  pendingPayments: readonly PendingPayment[];
  token: TokenData;
};

/**
 * Renders the data that `followed.js` needs to follow a link. It is used if the page's script
 * cannot pay the link. `data-state` is the rendered state in the format of `renew.js`.
 * `data-scripts` contains the URLs of the scripts whose pages `followed.js` can show.
 */
export const renderFollowSection = (
  { link, status, reason, pendingPayments, token }: FollowOptions,
  localization: Localization,
): Html => {
  const pendingPaymentIds = pendingPayments.map(({ id }) => id);
  const pendingNotice = renderPendingPaymentNotice(pendingPayments, token, localization);
  const state = [status, link.receivedAmount, String(reason), ...pendingPaymentIds].join(" ");
  return html`<section
    id="follow"
    data-link="${link.id}"
    data-state="${state}"
    data-scripts="${buildAssetUrl("page.js")}"
    data-offline="${localization.texts.script.offline}"
  >
    ${pendingPayments.length === 0 ? undefined : renderStepper(pendingPayments[0], localization)}
    <p id="live" role="status">${pendingNotice}</p>
    <p id="offline" role="status"></p>
  </section>`;
};
