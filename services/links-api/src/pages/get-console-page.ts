import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { answerDocument, html } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import type { ConsoleFiles } from "./console-files.ts";

const body = html`<div id="console"></div>
  <noscript>
    <main class="plain">
      <h1>Payment Links</h1>
      <p>The console needs JavaScript. A sign-in link can be used without it:</p>
      <form method="post" action="/console/api/session/form">
        <label>Your sign-in link <input name="link" required autocomplete="off" /></label>
        <button type="submit">Continue</button>
      </form>
    </main>
  </noscript>`;

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
    if (req.path.split("/")[2] === "api") throw refuse("NOT_FOUND");
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
    answerDocument(res, { title: "Payment Links", body, head, styleUrl, policy: "scripted" });
  };
