import { circleX, clock, info, triangleAlert } from "@payment-links/design/icons";
import { type LinkStatus, type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { OwnedLinkView } from "../domain/link-view.ts";
import {
  type InstructionsResult,
  type NoInstructionsReason,
  getRemainingAmount,
  getUnsendableRemainder,
} from "../domain/payment-instructions.ts";
import type { WrongToken } from "../domain/wrong-token.ts";
import { renderAmount } from "./render-amount.ts";
import { renderNotice } from "./render-notice.ts";
import { type Localization, fillPlaceholders } from "./localization.ts";

export type CheckoutState = {
  link: OwnedLinkView;
  token: TokenData;
  status: LinkStatus;
  instructionsResult: InstructionsResult;
  wrongToken: WrongToken | undefined;
  localization: Localization;
};

/** Returns whether a link has received its whole amount. */
export const isPaid = ({ status, link }: Pick<CheckoutState, "status" | "link">): boolean =>
  status === "completed" && getRemainingAmount(link).isZero();

/**
 * Renders the link's state. For a link that can be paid and does not have any payments yet, nothing
 * is rendered, because the pay button is enough.
 */
export const renderState = (state: CheckoutState): Html =>
  html`${renderPartialPayment(state)} ${renderUnpayableNotice(state)}
  ${renderWrongTokenNotice(state)}`;

const endReasons = ["completed", "expired", "inactive", "account_suspended"] as const;
type EndReason = (typeof endReasons)[number];

/** Returns whether a link is still open, although it cannot be paid on this page. */
const isOpenReason = (
  reason: NoInstructionsReason,
): reason is Exclude<NoInstructionsReason, EndReason> =>
  !endReasons.some((endReason) => endReason === reason);

/** Returns whether a link is still open. It may not be payable on this page. */
export const isOpen = ({ instructionsResult }: CheckoutState): boolean =>
  "instructions" in instructionsResult || isOpenReason(instructionsResult.reason);

/** Returns whether a partly paid link cannot be paid because the rest is too small to be sent. */
const isRemainderTooSmall = ({ link, token, instructionsResult }: CheckoutState): boolean =>
  "reason" in instructionsResult &&
  link.receivedAmount !== "0" &&
  getUnsendableRemainder(link, token) !== undefined;

/** Renders the received part of the amount. */
const renderPartialPayment = (state: CheckoutState): Html | undefined => {
  const { link, token, localization } = state;
  const { states } = localization.texts;
  if (!isOpen(state) || link.receivedAmount === "0") return undefined;
  const text = isRemainderTooSmall(state) ? states.remainderTooSmall : states.partial;
  const values = { ...formatAmounts(state), chain: token.chain.name };
  return html`<div class="state while-payable">
    <progress
      max="${link.toAmount}"
      value="${link.receivedAmount}"
      aria-label="${localization.texts.labels.received}"
    ></progress>
    <p>${fillHtml(text, values)}</p>
  </div>`;
};

/** Renders why a link cannot be paid, and what the visitor can do. */
const renderUnpayableNotice = (state: CheckoutState): Html | undefined => {
  const { token, instructionsResult, localization } = state;
  if ("instructions" in instructionsResult) return undefined;
  const { ended, states, unpayable, cannotPay } = localization.texts;
  const { reason } = instructionsResult;
  const className = isOpenReason(reason) ? "state while-payable" : "state";
  const render = (notice: Parameters<typeof renderNotice>[0]) =>
    html`<div class="${className}">${renderNotice(notice)}</div>`;
  switch (reason) {
    case "completed": {
      if (isPaid(state)) return undefined;
      return render({
        icon: info,
        text: fillHtml(states.paymentLimitReached, formatAmounts(state)),
      });
    }
    case "expired":
      return render({ icon: clock, ...ended.expired });
    case "inactive":
      return render({ icon: circleX, ...ended.inactive });
    case "account_suspended":
      return render({ icon: triangleAlert, tone: "warning", ...ended.suspended });
    case "chain_not_watched":
    case "no_fee_proxy":
    case "amount_not_payable":
    case "destination_not_payable": {
      if (isRemainderTooSmall(state)) return undefined;
      const text = fillPlaceholders(unpayable[reason], { chain: token.chain.name });
      return render({ icon: info, title: cannotPay, text });
    }
  }
};

/**
 * Renders a notice about money that arrived in a token that is easily mistaken for the link's own.
 * Without it, the payer would keep waiting.
 */
const renderWrongTokenNotice = ({
  token,
  wrongToken,
  localization,
}: CheckoutState): Html | undefined => {
  if (wrongToken === undefined) return undefined;
  const { amount, sourceTransaction, symbol: wrongSymbol } = wrongToken;
  const { language, texts } = localization;
  return html`<p class="state notice warning">
    <span>
      ${fillHtml(texts.wrongToken, {
        amount: renderAmount(amount, language),
        wrong: wrongSymbol,
        symbol: token.symbol,
        hash: html`<code>${sourceTransaction}</code>`,
      })}
    </span>
  </p>`;
};

const formatAmounts = ({ link, token: { symbol }, localization: { language } }: CheckoutState) => ({
  asked: renderAmount(link.toAmount, language),
  received: renderAmount(link.receivedAmount, language),
  remaining: renderAmount(formatAmount(getRemainingAmount(link)), language),
  symbol,
});
