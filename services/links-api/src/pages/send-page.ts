import type { Request, Response } from "express";
import type { ApiError } from "@payment-links/contracts";
import { type HtmlDocument, sendDocument, html } from "@payment-links/http";
import { buildAssetUrl } from "./assets.ts";
import { type Language, getLanguage, languages } from "./languages.ts";

type PageOptions = Omit<HtmlDocument, "styleUrl" | "language"> & {
  language: Language;
  /** The file name of the page's only script. If it is omitted, the page does not have a script. */
  script?: string;
};

/**
 * Sends a page with the common design, in the language that the browser requests. The script tag is
 * at the end, so that the content before it is rendered first. The pay button also works sooner
 * than with a deferred script or with modules.
 */
export const sendPage = (res: Response, { script, ...page }: PageOptions): void => {
  res.vary("Accept-Language");
  const head = html`${commonHeadTags} ${page.head}`;
  const scriptTag = script && html`<script src="${buildAssetUrl(script)}"></script>`;
  const body = html`${page.body} ${scriptTag}`;
  sendDocument(res, { ...page, head, body, styleUrl: buildAssetUrl("page.css") });
};

/** The theme colors are the same as `--background` in `@payment-links/design`. */
const commonHeadTags = html`<link rel="icon" href="/favicon.svg" type="image/svg+xml" />
  <meta name="theme-color" content="#f6f7f9" media="(prefers-color-scheme: light)" />
  <meta name="theme-color" content="#0f1217" media="(prefers-color-scheme: dark)" />`;

/** Sends an error as a page with the error's status and a text for visitors. */
export const sendPageError = ({ status }: ApiError, req: Request, res: Response): void => {
  const language = getLanguage(req);
  const { errorPages } = languages[language].texts.site;
  const { title, text } = status === 404 || status === 429 ? errorPages[status] : errorPages.failed;
  const body = html`<main class="card plain">
    <h1>${title}</h1>
    <p>${text}</p>
  </main>`;
  sendPage(res, { language, title, body, status });
};
