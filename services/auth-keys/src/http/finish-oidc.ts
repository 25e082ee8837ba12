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
 * GET /console/api/session/oidc/callback: completes a sign-in at the identity provider. The browser
 * arrives through a cross-site redirect, so a cookie identifies it instead of the referring site.
 * Each `state` is valid once, in the browser that started the sign-in.
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
      // If the provider does not report the time of the authentication, it may have reused an old
      // session. The sign-in then does not prove presence.
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

/**
 * Consumes the pending attempt that belongs to this callback, and returns it with the callback's
 * parameters.
 */
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
    dependencies.log.info({ method: "oidc", rule: "state" }, "sign-in rejected");
    throw createApiError("OIDC_SIGN_IN_REFUSED");
  }
  return { attempt, oidc, authorizationResponse, flow: deriveOidcFlow(browserToken, state) };
};

type OidcCallback = Awaited<ReturnType<typeof consumeAttempt>>;

/** Redeems the authorization code at the provider for the user's identity. */
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
 * Proves presence with the provider's response. Rejects the response if the provider reused an old
 * sign-in or does not report its time, because an attacker with access to the user's browser could
 * reuse that sign-in too.
 */
const provePresenceWithOidc = async (
  dependencies: Dependencies,
  requestContext: { req: Request; res: Response; caller: Caller },
  { provenIdentity, authenticationAgeMs }: OidcProof,
): Promise<void> => {
  if (authenticationAgeMs === undefined || authenticationAgeMs >= presenceMsMax) {
    dependencies.log.info({ method: "oidc", rule: "auth_time" }, "proof of presence rejected");
    throw createApiError("OIDC_SIGN_IN_REFUSED");
  }
  await renewPresence(dependencies, {
    ...requestContext,
    method: "oidc",
    resolveAccountId: createIdentityOwnerResolver(provenIdentity),
    authenticationAgeMs,
  });
};

/**
 * Returns the signed-in caller. Throws OIDC_SIGN_IN_REFUSED unless it is the session that started
 * the redirect to the provider.
 */
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

/**
 * Links the identity to the account of the session that started the flow. Linking requires a proof
 * of presence, because the user may have left the browser since then (rule CALLER-19).
 */
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
