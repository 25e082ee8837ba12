import type { Request, Response } from "express";
import { StartOidcQuery, hashSecret, createApiError } from "@payment-links/contracts";
import {
  parseQuery,
  readSessionToken,
  rejectCrossSiteRequest,
  writeMaxAgeMs,
} from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { oidcAttemptLifetimeMs, deriveOidcFlow } from "../domain/sign-in-attempt.ts";
import { generateToken } from "../domain/token.ts";
import { insertSignInAttempt } from "../store/sign-in-attempts.ts";
import { setBrowserCookie } from "./sign-in-browser.ts";

/**
 * GET /console/api/session/oidc: redirects a browser to the identity provider. With `?link=true`,
 * the returned identity is linked to the current session's account. With `?prove=true`, it proves
 * the presence of the current session's user.
 */
export const startOidc = (dependencies: Dependencies) => async (req: Request, res: Response) => {
  rejectCrossSiteRequest(req, dependencies.cookie);
  const { link, prove } = parseQuery(req, StartOidcQuery);
  if (dependencies.oidc === undefined) throw createApiError("SIGN_IN_METHOD_UNAVAILABLE");
  const isPresenceProof = prove === "true";
  const isLinking = !isPresenceProof && link === "true";
  const sessionId =
    isPresenceProof || isLinking ? await requireSessionId(dependencies, req, isLinking) : undefined;
  const browserToken = setBrowserCookie(req, res, dependencies.cookie);
  const state = generateToken();
  const url = await dependencies.oidc
    .signInUrl(deriveOidcFlow(browserToken, state), { isLoginForced: isPresenceProof })
    .catch((error: unknown) => {
      dependencies.counters.countSignIn("oidc", "failed");
      throw error;
    });
  await insertSignInAttempt(dependencies.pool, {
    hash: hashSecret(state),
    browserHash: hashSecret(browserToken),
    method: "oidc",
    expiresAt: new Date(dependencies.clock.now().getTime() + oidcAttemptLifetimeMs),
    ...(sessionId &&
      (isPresenceProof ? { presenceSessionId: sessionId } : { linkingSessionId: sessionId })),
  });
  res.setHeader("Cache-Control", "no-store");
  res.redirect(303, url);
};

const requireSessionId = async (
  dependencies: Dependencies,
  req: Request,
  needsPresence: boolean,
): Promise<string> => {
  const token = readSessionToken(req, dependencies.cookie) ?? "";
  const sessionOptions = { maxAgeMs: writeMaxAgeMs, needsPresence };
  return (await dependencies.identity.authenticateSession(token, sessionOptions)).credential.id;
};
