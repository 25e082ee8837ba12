import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";

type ExpiryOptions = { expiresAt: Date | null; now: Date; localization: Localization };

/**
 * The end of an open link: a script of the page counts its last day down, and then shows these words
 * instead of all that is marked `until-expiry`. It is told how long that is, as its clock may be wrong.
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
