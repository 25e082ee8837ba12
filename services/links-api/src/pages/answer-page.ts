import type { Request, Response } from "express";
import type { Refusal } from "@payment-links/contracts";
import {
  type Document,
  type Language,
  answerDocument,
  chooseLanguage,
  html,
} from "@payment-links/http";
import { assetUrl } from "./assets.ts";
import { siteTextsFor } from "./site-texts-for.ts";

type Page = Omit<Document, "styleUrl" | "language"> & {
  language: Language;
  /** The one script of the page; none if not given. */
  script?: string;
};

/**
 * Answers a page in the look of all our pages, in the language that its reader asked for. Its script is
 * the last in it: what stands before may be shown at once, and the button could be pressed sooner so than
 * with a deferred script or with modules.
 */
export const answerPage = (res: Response, { script, ...page }: Page): void => {
  res.vary("Accept-Language");
  const head = html`${sharedHead} ${page.head}`;
  const tag = script && html`<script src="${assetUrl(script)}"></script>`;
  const body = html`${page.body} ${tag}`;
  answerDocument(res, { ...page, head, body, styleUrl: assetUrl("page.css") });
};

/** The colours are those of the ground in `page.css`. */
const sharedHead = html`<link rel="icon" href="/favicon.svg" type="image/svg+xml" />
  <meta name="theme-color" content="#f3f4f6" media="(prefers-color-scheme: light)" />
  <meta name="theme-color" content="#101216" media="(prefers-color-scheme: dark)" />`;

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
