import type { Request, Response } from "express";
import { hashSecret, newId, refuse } from "@payment-links/contracts";
import { readSessionToken, writeFreshMs } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import type { ProvenIdentity } from "../domain/identity.ts";
import { oidcFlow } from "../domain/sign-in-attempt.ts";
import { spendSignInAttempt } from "../store/sign-in-attempts.ts";
import { personActor } from "./actors.ts";
import { linkProvenIdentity } from "./link-proven-identity.ts";
import { readBrowser } from "./sign-in-browser.ts";
import { byIdentity, countSignIn, signIn } from "./sign-in.ts";

/**
 * GET /console/api/session/oidc/callback: a browser comes back from the identity provider, by
 * another site's redirect. So the cookie tells that the browser is ours, not the site that sends
 * it: the answer's `state` is good once, in the browser for which it was made.
 */
export const finishOidc = (deps: Deps) => async (req: Request, res: Response) => {
  await countSignIn(deps, "oidc", async () => {
    const { proven, linkingSessionId } = await redeem(deps, req);
    if (linkingSessionId !== null) await link(deps, req, { proven, linkingSessionId });
    else await signIn(deps, { req, res, method: "oidc", who: byIdentity(deps, proven) });
  });
  res.setHeader("Cache-Control", "no-store");
  res.redirect(303, `${deps.baseUrl}/console`);
};

const redeem = async (deps: Deps, req: Request) => {
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
  const proven = await oidc.redeem(answer, oidcFlow(browser, state));
  return { proven, linkingSessionId: attempt.linkingSessionId };
};

/** Links to the account of the session that began it, if that session is still signed in here. */
const link = async (
  deps: Deps,
  req: Request,
  { proven, linkingSessionId }: { proven: ProvenIdentity; linkingSessionId: string },
): Promise<void> => {
  const token = readSessionToken(req, deps.cookie) ?? "";
  const caller = await deps.identity.bySession(token, { freshMs: writeFreshMs });
  if (caller.credential.id !== linkingSessionId) throw refuse("OIDC_SIGN_IN_REFUSED");
  const id = newId("idn");
  const actor = personActor(req, caller.credential);
  const now = deps.clock.now();
  await transact(deps.pool, (tx) => linkProvenIdentity(tx, { id, proven, caller, actor, now }));
};
