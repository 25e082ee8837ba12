import type { Response } from "express";
import { type Html, html } from "./html.ts";

const buildPolicy = (sources: string, imageSources = "'self'"): string =>
  `default-src 'none'; style-src 'self'; img-src ${imageSources}; ${sources}` +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const buildScriptSources = (connectSources: readonly string[]): string =>
  `script-src 'self'; connect-src ${["'self'", ...connectSources].join(" ")}; `;

/**
 * The content security policies of pages. Pages are static documents. A page with a script can run
 * only scripts from the service itself. The checkout page also shows wallet icons, which are
 * `data:` URLs and do not load anything from other hosts.
 */
const policies = {
  document: () => buildPolicy("connect-src 'self'; "),
  scripted: (connectSources: readonly string[]) => buildPolicy(buildScriptSources(connectSources)),
  checkout: (connectSources: readonly string[]) =>
    buildPolicy(buildScriptSources(connectSources), "'self' data:"),
};

export type HtmlDocument = {
  /** The page's language. Default: English. */
  language?: string;
  title: string;
  body: Html;
  status?: number;
  /** The page's content security policy. */
  policy?: keyof typeof policies;
  /**
   * The origins that the wallet code of a page with a script can connect to. By default, only the
   * service's own.
   */
  connectSources?: readonly string[];
  /** The URL of the page's stylesheet. */
  styleUrl: string;
  head?: Html;
};

/**
 * Sends a complete HTML page. Other pages cannot frame it, and it loads files only from the service
 * itself.
 */
export const sendDocument = (
  res: Response,
  {
    language = "en",
    policy = "document",
    connectSources = [],
    status = 200,
    ...document
  }: HtmlDocument,
): void => {
  const { title, body, head, styleUrl } = document;
  setDocumentHeaders(res, policies[policy](connectSources));
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="stylesheet" href="${styleUrl}" />
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html> `;
  res.status(status).type("html").send(page.text);
};

/** Sets the headers of a page whose HTML is complete and has scripts. */
export const setScriptedDocumentHeaders = (res: Response): void =>
  setDocumentHeaders(res, policies.scripted([]));

const setDocumentHeaders = (res: Response, contentSecurityPolicy: string): void => {
  res.setHeader("Content-Security-Policy", contentSecurityPolicy);
  res.setHeader("Referrer-Policy", "no-referrer");
  res.setHeader("Cross-Origin-Opener-Policy", "same-origin");
};
