import { type TokenData, formatAmount } from "@payment-links/contracts";
import { type Html, fillHtml, html } from "@payment-links/http";
import type { Payment } from "../domain/payment.ts";
import type { NoInstructionsReason } from "../domain/payment-instructions.ts";
import { assetUrl } from "./assets.ts";
import { showAmount } from "./show-amount.ts";
import type { Words } from "./words.ts";

/** What a page says of the payments on their way to its link; nothing where there are none. */
export const showSeen = (
  [seen]: readonly Payment[],
  { symbol }: TokenData,
  { language, texts }: Words,
): Html | undefined => {
  if (seen === undefined) return undefined;
  return fillHtml(texts.seen, { amount: showAmount(formatAmount(seen.amount), language), symbol });
};

type Followed = {
  link: { id: string; receivedAmount: string };
  status: string;
  /** Why it cannot be paid; null where it is paid by hand. */
  reason: NoInstructionsReason | null;
  pending: readonly Payment[];
  token: TokenData;
};

/**
 * What `followed.js` follows a link by that this page's script cannot pay: `data-state` is the page's state, as
 * `renew.js` says it, and `data-scripts` are those whose pages it can show.
 */
export const showFollowed = (
  { link, status, reason, pending, token }: Followed,
  words: Words,
): Html => {
  const seen = pending.map(({ id }) => id);
  const state = [status, link.receivedAmount, String(reason), ...seen].join(" ");
  return html`<section
    id="follow"
    data-link="${link.id}"
    data-state="${state}"
    data-scripts="${assetUrl("page.js")}"
    data-offline="${words.texts.script.offline}"
  >
    <p id="live" role="status">${showSeen(pending, token, words)}</p>
    <p id="offline" role="status"></p>
  </section>`;
};
