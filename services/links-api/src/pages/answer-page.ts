import type { Request, Response } from "express";
import type { Refusal } from "@payment-links/contracts";
import { type Document, answerDocument, html } from "@payment-links/http";
import { assetUrl } from "./assets.ts";
import { type Language, chooseLanguage } from "./languages.ts";
import { siteTextsFor } from "./site-texts-for.ts";

type Page = Omit<Document, "styleUrl" | "language"> & { language: Language };

/** Answers a page in the look of all our pages, in the language that its reader asked for. */
export const answerPage = (res: Response, page: Page): void => {
  res.vary("Accept-Language");
  const head = html`${sharedHead} ${page.head}`;
  answerDocument(res, { ...page, head, styleUrl: assetUrl("page.css") });
};

/** The colours are those of the ground in `page.css`. */
const sharedHead = html`<link rel="icon" href="/favicon.svg" type="image/svg+xml" />
  <meta name="theme-color" content="#f3f4f6" media="(prefers-color-scheme: light)" />
  <meta name="theme-color" content="#101216" media="(prefers-color-scheme: dark)" />`;

/** What runs on every page that shows an amount or a time. */
export const pageScript = html`<link rel="modulepreload" href="${assetUrl("amounts.js")}" />
  <script type="module" src="${assetUrl("page.js")}"></script> `;

/** How a page answers a refusal: with its status, and in words for a person. */
export const answerPageRefusal = ({ status }: Refusal, req: Request, res: Response): void => {
  const { refused } = siteTextsFor(req);
  const { title, text } = status === 404 || status === 429 ? refused[status] : refused.failed;
  const body = html`<main class="card">
    <h1>${title}</h1>
    <p>${text}</p>
  </main>`;
  answerPage(res, { language: chooseLanguage(req), title, body, status });
};
