import type { Request, Response } from "express";
import { type Account, Refusal } from "@payment-links/contracts";
import {
  type Html,
  answerDocument,
  chooseLanguage,
  fillHtml,
  html,
  readBytes,
  readSessionToken,
  refuseOtherSites,
  writeFreshMs,
} from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { findLinkOwner } from "./ask-about-link.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { countSignIn, signIn } from "./sign-in.ts";
import { type SignInTexts, signInTexts } from "./sign-in-texts.ts";
import { signInTextsGerman } from "./sign-in-texts-german.ts";
import { byLink, claimOfLink } from "./start-session.ts";

/**
 * POST /console/api/session/form: a sign-in link in a browser without script. The first form says
 * whose it is; its button, and nothing else, signs in.
 */
export const signInByForm = (deps: Deps) => async (req: Request, res: Response) => {
  refuseOtherSites(req, deps.cookie);
  const form = new URLSearchParams((await readBytes(req)).toString("utf8"));
  const token = tokenOf(form.get("link") ?? "");
  if (form.get("confirmed") !== "yes") {
    const [owner, present] = [await findLinkOwner(deps, token), await findPresent(deps, req)];
    answerSignInPage({ req, res }, showQuestion(textsFor(req), { owner, present, token }));
    return;
  }
  const method = "link";
  requireMethod(deps, method);
  const tried = { req, method, claim: claimOfLink(token) } as const;
  await countSignIn(deps, tried, () => signIn(deps, { req, res, method, who: byLink(token) }));
  res.setHeader("Cache-Control", "no-store");
  res.redirect(303, `${deps.baseUrl}/console`);
};

/** How that form answers a refusal: in words for a person. */
export const answerFormRefusal = (refusal: Refusal, req: Request, res: Response): void => {
  const { back, refused } = textsFor(req);
  const told = new Map(Object.entries(refused));
  const texts = refusal.entries.map(({ code, message }) => told.get(code) ?? message);
  const shown = texts.map((text) => html`<p>${text}</p>`);
  const content = html`${shown}
    <p><a href="/console">${back}</a></p>`;
  answerSignInPage({ req, res, status: refusal.status }, content);
};

const textsFor = (req: Request): SignInTexts => allTexts[chooseLanguage(req)];

const allTexts = { en: signInTexts, de: signInTextsGerman };

/** People paste the whole link, or what stands behind its `#token=`. */
const tokenOf = (pasted: string): string =>
  new URLSearchParams(pasted.slice(pasted.indexOf("#") + 1)).get("token") ?? pasted.trim();

/** Who is signed in in this browser, if anybody is. */
const findPresent = async (deps: Deps, req: Request): Promise<Account | undefined> => {
  const token = readSessionToken(req, deps.cookie) ?? "";
  try {
    return (await deps.identity.bySession(token, { freshMs: writeFreshMs })).account;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
};

type Question = { owner: Account; present: Account | undefined; token: string };

const showQuestion = (texts: SignInTexts, { owner, present, token }: Question): Html => {
  const handle = owner.handle === null ? "" : ` (@${owner.handle})`;
  const names = { owner: nameOf(owner), present: present && nameOf(present) };
  return html`
    <p>${fillHtml(texts.who, { owner: html`${nameOf(owner)}${handle}` })}</p>
    ${names.present && html`<p>${fillHtml(texts.switches, { ...names, present: names.present })}</p>`}
    <form method="post">
      <input type="hidden" name="link" value="${token}" />
      <input type="hidden" name="confirmed" value="yes" />
      <button type="submit">${fillHtml(texts.signInAs, { owner: names.owner })}</button>
    </form>
    <p><a href="/console">${texts.stay}</a></p>
  `;
};

const nameOf = ({ username }: Account): Html => html`<bdi>${username}</bdi>`;

type Asked = { req: Request; res: Response; status?: number };

const answerSignInPage = ({ req, res, status = 200 }: Asked, content: Html): void => {
  const texts = textsFor(req);
  res.vary("Accept-Language");
  answerDocument(res, {
    language: chooseLanguage(req),
    title: texts.pageTitle,
    status,
    styleUrl: "/checkout/assets/page.css",
    body: html`<main class="card">
      <h1>${texts.title}</h1>
      ${content}
    </main>`,
  });
};
