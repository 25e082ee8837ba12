import type { Request, Response } from "express";
import { negotiateLanguage, html } from "@payment-links/http";
import { sendPage } from "./send-page.ts";
import { getSiteTexts } from "./get-site-texts.ts";

/**
 * GET /: returns the start page, for visitors who do not have a payment link. It links to the
 * console.
 */
export const getHomePage = (req: Request, res: Response): void => {
  const { home: texts } = getSiteTexts(req);
  const body = html`<main class="card">
    <h1>Payment Links</h1>
    <p>${texts.introduction}</p>
    <p><a class="primary" href="/console">${texts.console}</a></p>
    <p class="quiet">${texts.payerHint}</p>
    <p class="quiet"><a href="/v1/openapi.json">${texts.apiDocument}</a></p>
  </main>`;
  sendPage(res, { language: negotiateLanguage(req), title: "Payment Links", body });
};
