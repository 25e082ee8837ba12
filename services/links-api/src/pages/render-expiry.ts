import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";

type ExpiryOptions = { expiresAt: Date | null; now: Date; localization: Localization };

/**
 * Renders the expiry of an active link. During the last day the page's script shows a countdown,
 * and after it shows this text instead of all elements with the class `while-payable`. The page
 * contains the remaining time instead of the expiry, because the visitor's clock can be wrong.
 */
export const renderExpiry = ({
  expiresAt,
  now,
  localization: { texts },
}: ExpiryOptions): Html | undefined =>
  expiresAt === null
    ? undefined
    : html`<p class="state" role="status" data-at-expiry hidden>
          <span class="badge inactive">${texts.badges.expired}</span> ${texts.states.expired}
        </p>
        <p
          class="state quiet while-payable"
          role="timer"
          data-left-ms="${expiresAt.getTime() - now.getTime()}"
          data-text="${texts.expiresIn}"
          hidden
        ></p>`;
