import type { Response } from "express";
import { type Html, html } from "./html.ts";

const buildPolicy = (sources: string, imageSources = "'self'"): string =>
  `default-src 'none'; style-src 'self'; img-src ${imageSources}; ${sources}` +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const buildScriptSources = (connectSources: readonly string[]): string =>
  `script-src 'self'; connect-src ${["'self'", ...connectSources].join(" ")}; `;

/**
 * Pages are plain documents. A page with a script runs our own file and nothing else. The checkout
 * shows the icons that wallets bring along, which are data and no address of anybody's.
 */
const policies = {
  document: () => buildPolicy("connect-src 'self'; "),
  scripted: () => buildPolicy(buildScriptSources([])),
  checkout: (connectSources: readonly string[]) =>
    buildPolicy(buildScriptSources(connectSources), "'self' data:"),
};

export type HtmlDocument = {
  /** The language that the page speaks; English if not given. */
  language?: string;
  title: string;
  body: Html;
  status?: number;
  /** The page's content security policy. */
  policy?: keyof typeof policies;
  /** The origins that a checkout's wallet may ask from within the page; our own alone if not given. */
  connectSources?: readonly string[];
  /** Where the page's look comes from. */
  styleUrl: string;
  head?: Html;
};

/** Answers a whole page: never framed, and with our own files only. */
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
  res.setHeader("Content-Security-Policy", policies[policy](connectSources));
  res.setHeader("Referrer-Policy", "no-referrer");
  res.setHeader("Cross-Origin-Opener-Policy", "same-origin");
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
