import type { Request, Response } from "express";
import type { Refusal } from "@payment-links/contracts";
import { type Document, answerDocument, html } from "@payment-links/http";
import { assetUrl } from "./assets.ts";
import { type Language, chooseLanguage } from "./languages.ts";
import { siteTexts } from "./site-texts.ts";
import { siteTextsGerman } from "./site-texts-german.ts";

type Page = Omit<Document, "styleUrl" | "language"> & { language: Language };

/** Answers a page in the look of all our pages, in the language that its reader asked for. */
export const answerPage = (res: Response, page: Page): void => {
  res.vary("Accept-Language");
  answerDocument(res, { ...page, styleUrl: assetUrl("page.css") });
};

/** What runs on every page that shows an amount or a time. */
export const pageScript = html`<link rel="modulepreload" href="${assetUrl("amounts.js")}" />
  <script type="module" src="${assetUrl("page.js")}"></script> `;

const texts = { en: siteTexts, de: siteTextsGerman };

/** How a page answers a refusal: with its status, and in words for a person. */
export const answerPageRefusal = ({ status }: Refusal, req: Request, res: Response): void => {
  const language = chooseLanguage(req);
  const { refused } = texts[language];
  const { title, text } = status === 404 || status === 429 ? refused[status] : refused.failed;
  const body = html`<main class="card">
    <h1>${title}</h1>
    <p>${text}</p>
  </main>`;
  answerPage(res, { language, title, body, status });
};
