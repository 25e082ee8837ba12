import type { Request, Response } from "express";
import { type Refusal, hashSecret, newId, refuse } from "@payment-links/contracts";
import { personActor, readSessionToken, writeFreshMs } from "@payment-links/http";
import { type Caller, presenceMsMax } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { type OidcProof, Outsider, type ProvenIdentity } from "../domain/identity.ts";
import { oidcFlow } from "../domain/sign-in-attempt.ts";
import { spendSignInAttempt } from "../store/sign-in-attempts.ts";
import { visitorActor } from "./actors.ts";
import { linkProvenIdentity } from "./link-proven-identity.ts";
import { noteRefusal } from "./note-refusal.ts";
import { notingRefusal, ownerOf, renewPresence } from "./renew-presence.ts";
import { readBrowser } from "./sign-in-browser.ts";
import { byIdentity, countSignIn, signIn } from "./sign-in.ts";

/**
 * GET /console/api/session/oidc/callback: a browser comes back from the identity provider, by
 * another site's redirect. So the cookie tells that the browser is ours, not the site that sends
 * it: the answer's `state` is good once, in the browser for which it was made.
 */
export const finishOidc = (deps: Deps) => async (req: Request, res: Response) => {
  const query = await countSignIn(deps, { req, method: "oidc", claim: undefined }, async () => {
    const came = await spendAttempt(deps, req);
    const { attempt } = came;
    if (attempt.presenceSessionId !== null) {
      const sessionId = attempt.presenceSessionId;
      const caller = await callerOf(deps, req, { sessionId, needsPresence: false });
      const proof = { req, caller, method: "oidc" } as const;
      await notingRefusal(deps, proof, async () =>
        proveByIssuer(deps, { req, res, caller }, await redeem(deps, req, came)),
      );
      return "?presence=proven";
    }
    // A provider that does not say when the person signed in there may have let them in by an old session.
    const { proven, ageMs = presenceMsMax } = await redeem(deps, req, came);
    if (attempt.linkingSessionId !== null) {
      await link(deps, req, { proven, linkingSessionId: attempt.linkingSessionId });
    } else {
      await signIn(deps, { req, res, method: "oidc", who: byIdentity(deps, proven), ageMs });
    }
    return "";
  });
  res.setHeader("Cache-Control", "no-store");
  res.redirect(303, `${deps.baseUrl}/console${query}`);
};

/** What a browser came back with, for the attempt that this ends. */
const spendAttempt = async (deps: Deps, req: Request) => {
  const { clock, cookie, oidc, pool } = deps;
  if (oidc === undefined) throw refuse("SIGN_IN_METHOD_UNAVAILABLE");
  const answer = new URL(req.originalUrl, deps.baseUrl).searchParams;
  const state = answer.get("state") ?? "";
  const browser = readBrowser(req, cookie);
  const attempt = await spendSignInAttempt(pool, {
    hash: hashSecret(state),
    browserHash: hashSecret(browser),
    method: "oidc",
    now: clock.now(),
  });
  if (attempt === undefined) {
    deps.log.info({ method: "oidc", rule: "state" }, "a sign-in was refused");
    throw refuse("OIDC_SIGN_IN_REFUSED");
  }
  return { attempt, oidc, answer, flow: oidcFlow(browser, state) };
};

type CameBack = Awaited<ReturnType<typeof spendAttempt>>;

/** Asks the provider who it is. */
const redeem = async (
  deps: Deps,
  req: Request,
  { answer, attempt, flow, oidc }: CameBack,
): Promise<OidcProof> => {
  try {
    return await oidc.redeem(answer, flow);
  } catch (error) {
    if (!(error instanceof Outsider)) throw error;
    const refusal = refuse("OIDC_SIGN_IN_REFUSED");
    const isSignIn = attempt.linkingSessionId === null && attempt.presenceSessionId === null;
    if (isSignIn) noteOutsider(deps, req, error, refusal);
    throw refusal;
  }
};

const noteOutsider = (deps: Deps, req: Request, { proven }: Outsider, refusal: Refusal): void => {
  const { issuer, subject } = proven;
  const method = "oidc";
  const claim = { by: "identity", method, issuers: [issuer], subject } as const;
  const actor = { ...visitorActor(req), method };
  noteRefusal(deps, { action: "session.refused", method, claim, actor }, refusal);
};

/**
 * Proves presence by what the provider said. One that let the person in by a sign-in of before, or does
 * not say when it was, proves nothing: whoever took the browser has that sign-in too.
 */
const proveByIssuer = async (
  deps: Deps,
  by: { req: Request; res: Response; caller: Caller },
  { proven, ageMs }: OidcProof,
): Promise<void> => {
  if (ageMs === undefined || ageMs >= presenceMsMax) {
    deps.log.info({ method: "oidc", rule: "auth_time" }, "a proof of presence was refused");
    throw refuse("OIDC_SIGN_IN_REFUSED");
  }
  await renewPresence(deps, { ...by, method: "oidc", who: ownerOf(proven), ageMs });
};

/** Who is signed in here, if it is still the session that sent the browser to the provider. */
const callerOf = async (
  deps: Deps,
  req: Request,
  { sessionId, needsPresence }: { sessionId: string; needsPresence: boolean },
): Promise<Caller> => {
  const token = readSessionToken(req, deps.cookie) ?? "";
  const caller = await deps.identity.bySession(token, { freshMs: writeFreshMs, needsPresence });
  if (caller.credential.id !== sessionId) throw refuse("OIDC_SIGN_IN_REFUSED");
  return caller;
};

/** Links to the account of the session that began it; its person may have been away since (rule CALLER-19). */
const link = async (
  deps: Deps,
  req: Request,
  { proven, linkingSessionId }: { proven: ProvenIdentity; linkingSessionId: string },
): Promise<void> => {
  const caller = await callerOf(deps, req, { sessionId: linkingSessionId, needsPresence: true });
  const id = newId("idn");
  const actor = personActor(req, caller.credential);
  const now = deps.clock.now();
  await transact(deps.pool, (tx) => linkProvenIdentity(tx, { id, proven, caller, actor, now }));
};
