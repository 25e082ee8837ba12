import type { Request, Response } from "express";
import { StartOidcQuery, hashSecret, refuse } from "@payment-links/contracts";
import { readQuery, readSessionToken, refuseOtherSites, writeFreshMs } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { oidcAttemptLifeMs, oidcFlow } from "../domain/sign-in-attempt.ts";
import { mintToken } from "../domain/token.ts";
import { insertSignInAttempt } from "../store/sign-in-attempts.ts";
import { keepBrowser } from "./sign-in-browser.ts";

/**
 * GET /console/api/session/oidc: sends a browser to the identity provider. With `?link=true` the
 * identity that it brings back is linked to the account of the present session; with `?prove=true` it
 * proves that this session's person is there.
 */
export const startOidc = (deps: Deps) => async (req: Request, res: Response) => {
  refuseOtherSites(req, deps.cookie);
  const { link, prove } = readQuery(req, StartOidcQuery);
  if (deps.oidc === undefined) throw refuse("SIGN_IN_METHOD_UNAVAILABLE");
  const isProof = prove === "true";
  const isLink = !isProof && link === "true";
  const session = isProof || isLink ? await sessionOf(deps, req, isLink) : undefined;
  const browser = keepBrowser(req, res, deps.cookie);
  const state = mintToken();
  const url = await deps.oidc
    .signInUrl(oidcFlow(browser, state), { isAnew: isProof })
    .catch((error: unknown) => {
      deps.counters.signedIn("oidc", "failed");
      throw error;
    });
  await insertSignInAttempt(deps.pool, {
    hash: hashSecret(state),
    browserHash: hashSecret(browser),
    method: "oidc",
    expiresAt: new Date(deps.clock.now().getTime() + oidcAttemptLifeMs),
    ...(session && (isProof ? { presenceSessionId: session } : { linkingSessionId: session })),
  });
  res.setHeader("Cache-Control", "no-store");
  res.redirect(303, url);
};

const sessionOf = async (deps: Deps, req: Request, needsPresence: boolean): Promise<string> => {
  const token = readSessionToken(req, deps.cookie) ?? "";
  const wanted = { freshMs: writeFreshMs, needsPresence };
  return (await deps.identity.bySession(token, wanted)).credential.id;
};
