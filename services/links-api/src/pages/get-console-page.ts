import type { Request, Response } from "express";
import { type Refusal, refuse } from "@payment-links/contracts";
import {
  type Html,
  answerDocument,
  answerRefusal,
  chooseLanguage,
  html,
} from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { answerPageRefusal } from "./answer-page.ts";
import type { ConsoleFiles } from "./console-files.ts";
import { siteTextsFor } from "./site-texts-for.ts";
import type { SiteTexts } from "./site-texts.ts";

const bodyOf = ({ console: texts }: SiteTexts): Html =>
  html`<div id="console"></div>
    <noscript>
      <main class="plain">
        <h1>Payment Links</h1>
        <p>${texts.needsScript}</p>
        <form method="post" action="/console/api/session/form">
          <label>${texts.link} <input name="link" required autocomplete="off" /></label>
          <button type="submit">${texts.go}</button>
        </form>
      </main>
    </noscript>`;

const isOfApi = ({ path }: Request): boolean => path.split("/")[2] === "api";

/** How the page is refused; below the console API by the API's own envelope. */
export const answerConsoleRefusal = (refusal: Refusal, req: Request, res: Response): void =>
  isOfApi(req) ? answerRefusal(refusal, res) : answerPageRefusal(refusal, req, res);

/** As much as the page needs to know of the console's files. */
type Subject = Pick<Deps, "settlementChains"> & { openFiles: () => ConsoleFiles };

/**
 * GET /console and all below it that is not the console API: the console is one page, which holds
 * nobody's data. Its script finds the view by the address.
 */
export const getConsolePage =
  ({ openFiles, settlementChains }: Subject) =>
  (req: Request, res: Response): void => {
    // No service knows these paths of the console API, so the ingress sends them here.
    if (isOfApi(req)) throw refuse("NOT_FOUND");
    const { icon, preloads, script, styles, version } = openFiles();
    const [styleUrl = "", ...more] = styles;
    // React Aria would write a style of that id into the page, unless something has it already.
    const head = html`<link rel="icon" id="react-aria-pressable-style" href="${icon}" />
      ${more.map((url) => html`<link rel="stylesheet" href="${url}" /> `)}
      ${preloads.map((url) => html`<link rel="modulepreload" href="${url}" /> `)}
      <meta name="color-scheme" content="light dark" />
      <meta name="console-version" content="${version}" />
      <meta name="settlement-chains" content="${[...settlementChains].join(" ")}" />
      <script type="module" src="${script}"></script> `;
    res.vary("Accept-Language");
    answerDocument(res, {
      language: chooseLanguage(req),
      title: "Payment Links",
      body: bodyOf(siteTextsFor(req)),
      head,
      styleUrl,
      policy: "scripted",
    });
  };
