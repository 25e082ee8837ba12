import type { Request, Response } from "express";
import { html } from "@payment-links/http";
import { sendPage } from "./send-page.ts";
import { getLanguage, languages } from "./languages.ts";

/**
 * GET /: returns the start page, for visitors who do not have a payment link. It links to the
 * console.
 */
export const getHomePage = (req: Request, res: Response): void => {
  const language = getLanguage(req);
  const { home: texts } = languages[language].texts.site;
  const body = html`<main class="card plain">
    <h1>Payment Links</h1>
    <p>${texts.introduction}</p>
    <p><a class="primary" href="/console">${texts.console}</a></p>
    <p class="quiet">${texts.payerHint}</p>
    <p class="quiet"><a href="/docs">${texts.docs}</a></p>
  </main>`;
  sendPage(res, { language, title: "Payment Links", body });
};
