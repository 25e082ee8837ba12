import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";

type ExpiryOptions = { expiresAt: Date | null; now: Date; localization: Localization };

/**
 * Renders the expiry of an active link. The page's script counts down the last day, and then shows
 * this text instead of everything marked `until-expiry`. The script gets the remaining time,
 * because the visitor's clock may be wrong.
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
          class="state quiet until-expiry"
          role="timer"
          data-left-ms="${expiresAt.getTime() - now.getTime()}"
          data-text="${texts.expiresIn}"
          hidden
        ></p>`;
