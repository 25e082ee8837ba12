import type { Request, Response } from "express";
import { type ApiError, createApiError } from "@payment-links/contracts";
import {
  type Html,
  sendDocument,
  sendApiError,
  html,
  createLanguageNegotiator,
} from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { sendPageError } from "./send-page.ts";
import type { ConsoleFiles } from "./console-files.ts";
import { languages } from "./languages.ts";
import type { Texts } from "./languages/en.ts";

const renderBody = ({ console: texts }: Texts["site"]): Html =>
  html`<div id="console"></div>
    <noscript>
      <main class="plain">
        <h1>Payment Links</h1>
        <p>${texts.needsScript}</p>
        <form method="post" action="/console/api/session/form">
          <label>${texts.link} <input name="link" required autocomplete="off" /></label>
          <button type="submit">${texts.submit}</button>
        </form>
      </main>
    </noscript>`;

/** The console has fewer languages than the other pages. */
const getConsoleLanguage = createLanguageNegotiator(["en", "de"] as const);

const isApiPath = ({ path }: Request): boolean => path.split("/")[2] === "api";

/**
 * Sends an error. Under the console API's paths it is the API's error response, otherwise it is a
 * page.
 */
export const sendConsoleError = (apiError: ApiError, req: Request, res: Response): void =>
  isApiPath(req) ? sendApiError(apiError, res) : sendPageError(apiError, req, res);

/** The dependencies of the handler for the console page. */
type ConsolePageDependencies = Pick<Dependencies, "catalogue" | "settlementChains"> & {
  getConsoleFiles: () => ConsoleFiles;
};

/**
 * Returns the origins of the nodes that the wallets of some networks query from within the page when
 * they send a refund. Only networks whose payments are watched have any.
 */
const listWalletOrigins = ({
  catalogue,
  settlementChains,
}: Pick<Dependencies, "catalogue" | "settlementChains">): readonly string[] => {
  const watchedChains = catalogue.chains.filter(({ id }) => settlementChains.has(id));
  return [...new Set(watchedChains.flatMap(({ walletNodes }) => walletNodes?.origins ?? []))];
};

/**
 * GET /console and all paths below it, except for the console API: returns the page of the console.
 * The page is the same for all paths and does not contain any user data. Its script selects the
 * view based on the URL.
 */
export const getConsolePage =
  ({ catalogue, getConsoleFiles, settlementChains }: ConsolePageDependencies) =>
  (req: Request, res: Response): void => {
    // The ingress routes console API paths here if no service handles them.
    if (isApiPath(req)) throw createApiError("NOT_FOUND");
    const { icon, preloads, script, styles, version } = getConsoleFiles();
    const [styleUrl = "", ...otherStyleUrls] = styles;
    // React Aria inserts an inline style element with this id, which the policy would block. It
    // does not insert it if an element with this id exists.
    const head = html`<link rel="icon" id="react-aria-pressable-style" href="${icon}" />
      ${otherStyleUrls.map((url) => html`<link rel="stylesheet" href="${url}" /> `)}
      ${preloads.map((url) => html`<link rel="modulepreload" href="${url}" /> `)}
      <meta name="color-scheme" content="light dark" />
      <meta name="console-version" content="${version}" />
      <meta name="settlement-chains" content="${[...settlementChains].join(" ")}" />
      <script type="module" src="${script}"></script> `;
    const language = getConsoleLanguage(req);
    res.vary("Accept-Language");
    sendDocument(res, {
      language,
      title: "Payment Links",
      body: renderBody(languages[language].texts.site),
      head,
      styleUrl,
      policy: "scripted",
      connectSources: listWalletOrigins({ catalogue, settlementChains }),
    });
  };
