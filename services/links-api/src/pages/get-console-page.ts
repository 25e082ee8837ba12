import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { html } from "@payment-links/http";
import { answerPage } from "./answer-page.ts";
import { assetUrl } from "./assets.ts";

const body = html`<main class="card wide" id="console">
  <h1>Payment Links</h1>
  <p id="notice" role="status">Loading…</p>
  <noscript>
    <p>The console needs JavaScript. A sign-in link can be used without it:</p>
    <form method="post" action="/console/api/session/form">
      <label>Your sign-in link <input name="link" required autocomplete="off" /></label>
      <button type="submit">Continue</button>
    </form>
  </noscript>
  <div id="content" hidden></div>
</main>`;

/**
 * GET /console and /console/:page: the console is one page, whose script asks before it redeems a sign-in
 * link, and talks to the console API. The page itself holds nobody's data.
 */
export const getConsolePage = (req: Request, res: Response): void => {
  // No service knows these paths of the console API, so the ingress sends them here.
  if (req.params["page"] === "api") throw refuse("NOT_FOUND");
  const head = html`<script type="module" src="${assetUrl("console.js")}"></script> `;
  answerPage(res, { title: "Console · Payment Links", body, head, policy: "scripted" });
};
