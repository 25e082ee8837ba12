import type { Request, Response } from "express";
import type { ApiError } from "@payment-links/contracts";
import {
  type HtmlDocument,
  type Language,
  sendDocument,
  negotiateLanguage,
  html,
} from "@payment-links/http";
import { buildAssetUrl } from "./assets.ts";
import { getSiteTexts } from "./get-site-texts.ts";

type PageOptions = Omit<HtmlDocument, "styleUrl" | "language"> & {
  language: Language;
  /** The one script of the page; none if not given. */
  script?: string;
};

/**
 * Answers a page in the look of all our pages, in the language that its reader asked for. Its script is
 * the last in it: what stands before may be shown at once, and the button could be pressed sooner so than
 * with a deferred script or with modules.
 */
export const sendPage = (res: Response, { script, ...page }: PageOptions): void => {
  res.vary("Accept-Language");
  const head = html`${commonHeadTags} ${page.head}`;
  const scriptTag = script && html`<script src="${buildAssetUrl(script)}"></script>`;
  const body = html`${page.body} ${scriptTag}`;
  sendDocument(res, { ...page, head, body, styleUrl: buildAssetUrl("page.css") });
};

/** The colours are those of the ground in `page.css`. */
const commonHeadTags = html`<link rel="icon" href="/favicon.svg" type="image/svg+xml" />
  <meta name="theme-color" content="#f3f4f6" media="(prefers-color-scheme: light)" />
  <meta name="theme-color" content="#101216" media="(prefers-color-scheme: dark)" />`;

/** How a page answers a refusal: with its status, and in words for a person. */
export const sendPageError = ({ status }: ApiError, req: Request, res: Response): void => {
  const { errorPages } = getSiteTexts(req);
  const { title, text } = status === 404 || status === 429 ? errorPages[status] : errorPages.failed;
  const body = html`<main class="card">
    <h1>${title}</h1>
    <p>${text}</p>
  </main>`;
  sendPage(res, { language: negotiateLanguage(req), title, body, status });
};
