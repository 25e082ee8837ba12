import { type Html, html } from "@payment-links/http";
import type { Words } from "./words.ts";

type Open = { expiresAt: Date | null; now: Date; words: Words };

/**
 * The end of an open link: a script of the page counts its last day down, and then shows these words
 * instead of all that is marked `until-expiry`. It is told how long that is, as its clock may be wrong.
 */
export const showExpiry = ({ expiresAt, now, words: { texts } }: Open): Html | undefined =>
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
