import type { Request, Response } from "express";
import { type ApiError, hashSecret, newId, createApiError } from "@payment-links/contracts";
import { createSessionActor, readSessionToken, writeMaxAgeMs } from "@payment-links/http";
import { type Caller, presenceMsMax } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { type OidcProof, GroupNotAllowedError, type ProvenIdentity } from "../domain/identity.ts";
import { deriveOidcFlow } from "../domain/sign-in-attempt.ts";
import { consumeSignInAttempt } from "../store/sign-in-attempts.ts";
import { visitorActor } from "./actors.ts";
import { linkProvenIdentity } from "./link-proven-identity.ts";
import { recordRejectedSignIn } from "./record-rejected-sign-in.ts";
import {
  recordRejectionOnError,
  createIdentityOwnerResolver,
  renewPresence,
} from "./renew-presence.ts";
import { readBrowserToken } from "./sign-in-browser.ts";
import { createIdentityResolver, countSignIn, signIn } from "./sign-in.ts";

/**
 * GET /console/api/session/oidc/callback: a browser comes back from the identity provider, by
 * another site's redirect. So the cookie tells that the browser is ours, not the site that sends
 * it: the answer's `state` is good once, in the browser for which it was made.
 */
export const finishOidc = (dependencies: Dependencies) => async (req: Request, res: Response) => {
  const querySuffix = await countSignIn(
    dependencies,
    { req, method: "oidc", claimedAccount: undefined },
    async () => {
      const callback = await consumeAttempt(dependencies, req);
      const { attempt } = callback;
      if (attempt.presenceSessionId !== null) {
        const sessionId = attempt.presenceSessionId;
        const caller = await requireSessionCaller(dependencies, req, {
          sessionId,
          needsPresence: false,
        });
        const proof = { req, caller, method: "oidc" } as const;
        await recordRejectionOnError(dependencies, proof, async () =>
          provePresenceWithOidc(
            dependencies,
            { req, res, caller },
            await redeemCode(dependencies, req, callback),
          ),
        );
        return "?presence=proven";
      }
      // A provider that does not say when the person signed in there may have let them in by an old session.
      const { provenIdentity, authenticationAgeMs = presenceMsMax } = await redeemCode(
        dependencies,
        req,
        callback,
      );
      if (attempt.linkingSessionId !== null) {
        await linkIdentity(dependencies, req, {
          provenIdentity,
          linkingSessionId: attempt.linkingSessionId,
        });
      } else {
        await signIn(dependencies, {
          req,
          res,
          method: "oidc",
          resolveAccount: createIdentityResolver(dependencies, provenIdentity),
          authenticationAgeMs,
        });
      }
      return "";
    },
  );
  res.setHeader("Cache-Control", "no-store");
  res.redirect(303, `${dependencies.baseUrl}/console${querySuffix}`);
};

/** What a browser came back with, for the attempt that this ends. */
const consumeAttempt = async (dependencies: Dependencies, req: Request) => {
  const { clock, cookie, oidc, pool } = dependencies;
  if (oidc === undefined) throw createApiError("SIGN_IN_METHOD_UNAVAILABLE");
  const authorizationResponse = new URL(req.originalUrl, dependencies.baseUrl).searchParams;
  const state = authorizationResponse.get("state") ?? "";
  const browserToken = readBrowserToken(req, cookie);
  const attempt = await consumeSignInAttempt(pool, {
    hash: hashSecret(state),
    browserHash: hashSecret(browserToken),
    method: "oidc",
    now: clock.now(),
  });
  if (attempt === undefined) {
    dependencies.log.info({ method: "oidc", rule: "state" }, "a sign-in was refused");
    throw createApiError("OIDC_SIGN_IN_REFUSED");
  }
  return { attempt, oidc, authorizationResponse, flow: deriveOidcFlow(browserToken, state) };
};

type OidcCallback = Awaited<ReturnType<typeof consumeAttempt>>;

/** Asks the provider who it is. */
const redeemCode = async (
  dependencies: Dependencies,
  req: Request,
  { authorizationResponse, attempt, flow, oidc }: OidcCallback,
): Promise<OidcProof> => {
  try {
    return await oidc.redeemCode(authorizationResponse, flow);
  } catch (error) {
    if (!(error instanceof GroupNotAllowedError)) throw error;
    const apiError = createApiError("OIDC_SIGN_IN_REFUSED");
    const isPlainSignIn = attempt.linkingSessionId === null && attempt.presenceSessionId === null;
    if (isPlainSignIn) recordGroupRejection(dependencies, req, error, apiError);
    throw apiError;
  }
};

const recordGroupRejection = (
  dependencies: Dependencies,
  req: Request,
  { provenIdentity }: GroupNotAllowedError,
  apiError: ApiError,
): void => {
  const { issuer, subject } = provenIdentity;
  const method = "oidc";
  const claimedAccount = { by: "identity", method, issuers: [issuer], subject } as const;
  const actor = { ...visitorActor(req), method };
  recordRejectedSignIn(
    dependencies,
    { action: "session.refused", method, claimedAccount, actor },
    apiError,
  );
};

/**
 * Proves presence by what the provider said. One that let the person in by a sign-in of before, or does
 * not say when it was, proves nothing: whoever took the browser has that sign-in too.
 */
const provePresenceWithOidc = async (
  dependencies: Dependencies,
  requestContext: { req: Request; res: Response; caller: Caller },
  { provenIdentity, authenticationAgeMs }: OidcProof,
): Promise<void> => {
  if (authenticationAgeMs === undefined || authenticationAgeMs >= presenceMsMax) {
    dependencies.log.info({ method: "oidc", rule: "auth_time" }, "a proof of presence was refused");
    throw createApiError("OIDC_SIGN_IN_REFUSED");
  }
  await renewPresence(dependencies, {
    ...requestContext,
    method: "oidc",
    resolveAccountId: createIdentityOwnerResolver(provenIdentity),
    authenticationAgeMs,
  });
};

/** Who is signed in here, if it is still the session that sent the browser to the provider. */
const requireSessionCaller = async (
  dependencies: Dependencies,
  req: Request,
  { sessionId, needsPresence }: { sessionId: string; needsPresence: boolean },
): Promise<Caller> => {
  const token = readSessionToken(req, dependencies.cookie) ?? "";
  const caller = await dependencies.identity.authenticateSession(token, {
    maxAgeMs: writeMaxAgeMs,
    needsPresence,
  });
  if (caller.credential.id !== sessionId) throw createApiError("OIDC_SIGN_IN_REFUSED");
  return caller;
};

/** Links to the account of the session that began it; its person may have been away since (rule CALLER-19). */
const linkIdentity = async (
  dependencies: Dependencies,
  req: Request,
  {
    provenIdentity,
    linkingSessionId,
  }: { provenIdentity: ProvenIdentity; linkingSessionId: string },
): Promise<void> => {
  const caller = await requireSessionCaller(dependencies, req, {
    sessionId: linkingSessionId,
    needsPresence: true,
  });
  const id = newId("idn");
  const actor = createSessionActor(req, caller.credential);
  const now = dependencies.clock.now();
  await transact(dependencies.pool, (tx) =>
    linkProvenIdentity(tx, { id, provenIdentity, caller, actor, now }),
  );
};
