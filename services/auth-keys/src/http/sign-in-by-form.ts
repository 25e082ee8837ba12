import type { Request, Response } from "express";
import { type Account, Refusal } from "@payment-links/contracts";
import {
  type Html,
  answerDocument,
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
    answerSignInPage(res, showQuestion({ owner, present, token }));
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
export const answerFormRefusal = (refusal: Refusal, _req: Request, res: Response): void => {
  const texts = refusal.entries.map(({ message }) => html`<p>${message}</p>`);
  answerSignInPage(res, html`${texts}`, refusal.status);
};

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

const showQuestion = ({ owner, present, token }: Question): Html => html`
  <p>
    This link signs you in as
    ${owner.handle === null ? owner.username : `${owner.username} (@${owner.handle})`}.
  </p>
  ${
    present &&
    html`<p>
      You are signed in as ${present.username}. Signing in as ${owner.username} signs
      ${present.username} out.
    </p>`
  }
  <form method="post">
    <input type="hidden" name="link" value="${token}" />
    <input type="hidden" name="confirmed" value="yes" />
    <button type="submit">Sign in as ${owner.username}</button>
  </form>
  <p><a href="/console">Do not sign in</a></p>
`;

const answerSignInPage = (res: Response, content: Html, status = 200): void =>
  answerDocument(res, {
    title: "Sign in · Payment Links",
    status,
    styleUrl: "/checkout/assets/page.css",
    body: html`<main class="card">
      <h1>Sign in</h1>
      ${content}
    </main>`,
  });
