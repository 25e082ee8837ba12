import type { Request, Response } from "express";
import { chooseLanguage, html } from "@payment-links/http";
import { answerPage } from "./answer-page.ts";
import { siteTextsFor } from "./site-texts-for.ts";

/** GET /: what this is, for whoever comes without a link, and the way to the console. */
export const getHomePage = (req: Request, res: Response): void => {
  const { home: texts } = siteTextsFor(req);
  const body = html`<main class="card">
    <h1>Payment Links</h1>
    <p>${texts.what}</p>
    <p><a class="primary" href="/console">${texts.console}</a></p>
    <p class="quiet">${texts.payers}</p>
    <p class="quiet"><a href="/v1/openapi.json">${texts.programs}</a></p>
  </main>`;
  answerPage(res, { language: chooseLanguage(req), title: "Payment Links", body });
};
