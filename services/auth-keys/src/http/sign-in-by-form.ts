import type { Request, Response } from "express";
import { type Account, ApiError } from "@payment-links/contracts";
import {
  type Html,
  sendDocument,
  fillHtml,
  html,
  readForm,
  readSessionToken,
  rejectCrossSiteRequest,
  writeMaxAgeMs,
} from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { findLinkOwner } from "./get-link-owner.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";
import { countSignIn, signIn } from "./sign-in.ts";
import { type SignInTexts, signInTexts } from "./sign-in-texts.ts";
import { signInTextsGerman } from "./sign-in-texts-german.ts";
import { createLinkResolver, getClaimedAccountOfLink } from "./start-session.ts";
import { getLanguage } from "./get-language.ts";
import { renderErrors } from "./render-errors.ts";

/**
 * POST /console/api/session/form: redeems a sign-in link in a browser without JavaScript. The first
 * request only shows a page that names the link's account. The button on that page signs in.
 */
export const signInByForm = (dependencies: Dependencies) => async (req: Request, res: Response) => {
  rejectCrossSiteRequest(req, dependencies.cookie);
  const form = await readForm(req);
  const token = parseToken(form.get("link") ?? "");
  if (form.get("confirmed") !== "yes") {
    const [owner, currentAccount] = [
      await findLinkOwner(dependencies, token),
      await findCurrentAccount(dependencies, req),
    ];
    sendSignInPage(
      { req, res },
      renderConfirmation(getTexts(req), { owner, currentAccount, token }),
    );
    return;
  }
  const method = "link";
  requireEnabledMethod(dependencies, method);
  const attempt = { req, method, claimedAccount: getClaimedAccountOfLink(token) } as const;
  await countSignIn(dependencies, attempt, () =>
    signIn(dependencies, { req, res, method, resolveAccount: createLinkResolver(token) }),
  );
  res.setHeader("Cache-Control", "no-store");
  res.redirect(303, `${dependencies.baseUrl}/console`);
};

/** Sends an error of this form as an HTML page. */
export const sendFormError = (apiError: ApiError, req: Request, res: Response): void => {
  const { backToConsole, errorTexts } = getTexts(req);
  const content = html`${renderErrors(apiError, errorTexts)}
    <p><a href="/console">${backToConsole}</a></p>`;
  sendSignInPage({ req, res, status: apiError.status }, content);
};

const textsByLanguage = { en: signInTexts, de: signInTextsGerman };

const getTexts = (req: Request): SignInTexts => textsByLanguage[getLanguage(req)];

/** Users paste the complete link, or only the part after `#token=`. */
const parseToken = (input: string): string =>
  new URLSearchParams(input.slice(input.indexOf("#") + 1)).get("token") ?? input.trim();

/** Returns the account that is signed in in this browser, if any. */
const findCurrentAccount = async (
  dependencies: Dependencies,
  req: Request,
): Promise<Account | undefined> => {
  const token = readSessionToken(req, dependencies.cookie) ?? "";
  try {
    return (await dependencies.identity.authenticateSession(token, { maxAgeMs: writeMaxAgeMs }))
      .account;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
};

type ConfirmationInput = { owner: Account; currentAccount: Account | undefined; token: string };

const renderConfirmation = (
  texts: SignInTexts,
  { owner, currentAccount, token }: ConfirmationInput,
): Html => {
  const handle = owner.handle === null ? "" : ` (@${owner.handle})`;
  const names = {
    owner: renderName(owner),
    present: currentAccount && renderName(currentAccount),
  };
  return html`
    <p>${fillHtml(texts.signInNotice, { owner: html`${renderName(owner)}${handle}` })}</p>
    ${names.present && html`<p>${fillHtml(texts.accountSwitchNotice, { ...names, present: names.present })}</p>`}
    <form method="post">
      <input type="hidden" name="link" value="${token}" />
      <input type="hidden" name="confirmed" value="yes" />
      <button type="submit">${fillHtml(texts.signInAs, { owner: names.owner })}</button>
    </form>
    <p><a href="/console">${texts.cancelLink}</a></p>
  `;
};

const renderName = ({ username }: Account): Html => html`<bdi>${username}</bdi>`;

type PageResponse = { req: Request; res: Response; status?: number };

const sendSignInPage = ({ req, res, status = 200 }: PageResponse, content: Html): void => {
  const texts = getTexts(req);
  res.vary("Accept-Language");
  sendDocument(res, {
    language: getLanguage(req),
    title: texts.pageTitle,
    status,
    styleUrl: "/checkout/assets/page.css",
    body: html`<main class="card">
      <h1>${texts.title}</h1>
      ${content}
    </main>`,
  });
};
