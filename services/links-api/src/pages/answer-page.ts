import type { Request, Response } from "express";
import type { Refusal } from "@payment-links/contracts";
import { assetUrl } from "./assets.ts";
import { type Html, html } from "./html.ts";

const policyOf = (sources: string): string =>
  `default-src 'none'; style-src 'self'; img-src 'self' https: data:; ${sources}` +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Pages are plain documents. A page with a script runs our own file and nothing else. */
const policies = {
  document: policyOf("connect-src 'self'; "),
  scripted: policyOf("script-src 'self'; connect-src 'self'; "),
};

type Page = {
  title: string;
  body: Html;
  status?: number;
  /** The page's content security policy. */
  policy?: keyof typeof policies;
  head?: Html;
};

/** Answers a whole page: never cached, never framed, and with our own files only. */
export const answerPage = (
  res: Response,
  { title, body, head, status = 200, policy = "document" }: Page,
): void => {
  res.setHeader("Content-Security-Policy", policies[policy]);
  res.setHeader("X-Content-Type-Options", "nosniff");
  res.setHeader("Referrer-Policy", "no-referrer");
  res.setHeader("Cross-Origin-Opener-Policy", "same-origin");
  res.setHeader("Cache-Control", "no-store");
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="stylesheet" href="${assetUrl("page.css")}" />
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html> `;
  res.status(status).type("html").send(page.text);
};

const refusedTexts: Readonly<Record<number, { title: string; text: string }>> = {
  404: { title: "Not found", text: "There is nothing at this address. Please check the link." },
  429: { title: "Too many requests", text: "Please wait a moment, then load the page again." },
};

const failedText = { title: "Something went wrong", text: "Please try again in a moment." };

/** How a page answers a refusal: with its status, and in words for a person. */
export const answerPageRefusal = (refusal: Refusal, _req: Request, res: Response): void => {
  const { title, text } = refusedTexts[refusal.status] ?? failedText;
  const body = html`<main class="card">
    <h1>${title}</h1>
    <p>${text}</p>
  </main>`;
  answerPage(res, { title, body, status: refusal.status });
};
