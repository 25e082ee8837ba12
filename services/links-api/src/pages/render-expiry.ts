import { clock } from "@payment-links/design/icons";
import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";
import { renderNotice } from "./render-notice.ts";

/** The page shows a countdown during the last day. */
const countdownMsMax = 24 * 60 * 60_000;

type ExpiryOptions = { expiresAt: Date | null; now: Date };

/**
 * Renders the countdown to the expiry of an active link. The page contains the remaining time
 * instead of the expiry, because the visitor's clock can be wrong. If the script shows the countdown
 * soon, its space is already reserved.
 */
export const renderCountdown = (
  { expiresAt, now }: ExpiryOptions,
  { texts }: Localization,
): Html | undefined => {
  if (expiresAt === null) return undefined;
  const remainingMs = expiresAt.getTime() - now.getTime();
  return html`<p
    class="countdown quiet while-payable"
    role="timer"
    data-left-ms="${remainingMs}"
    data-text="${texts.expiresIn}"
    ${remainingMs > countdownMsMax ? html`hidden` : undefined}
  ></p>`;
};

/**
 * Renders the text that the page's script shows when an active link expires, instead of all elements
 * with the class `while-payable`.
 */
export const renderExpiredNotice = ({ texts }: Localization): Html =>
  html`<div role="status" data-at-expiry hidden>
    ${renderNotice({ icon: clock, ...texts.ended.expired })}
  </div>`;
