import type { Request, Response } from "express";
import { PresenceBody, hashSecret, invalid, refuse } from "@payment-links/contracts";
import { readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import type { SignInMethod } from "../domain/session.ts";
import { redeemSignInToken } from "../store/sign-in-tokens.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { readSiwe } from "./read-siwe.ts";
import { type WhoIsThere, ownerOf, renewPresence } from "./renew-presence.ts";

/**
 * POST /console/api/session/presence: the signed-in person proves to be there, by what signs in to the
 * same account. An identity provider proves it by GET …/session/oidc?prove=true.
 */
export const provePresence =
  (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
    const { token, siwe } = await readBody(req, PresenceBody);
    if (siwe === undefined && token === undefined) throw invalid("missing");
    const method: SignInMethod = siwe === undefined ? "link" : "siwe";
    requireMethod(deps, method);
    const who = siwe === undefined ? ownerOfLink(token ?? "") : await ownerOfSiwe(deps, req, siwe);
    await renewPresence(deps, { req, res, caller, method, who });
    res.status(204).end();
  };

const ownerOfLink =
  (token: string): WhoIsThere =>
  async (tx, now) => {
    const accountId = await redeemSignInToken(tx, { hash: hashSecret(token), now });
    if (accountId === undefined) throw refuse("INVALID_SIGN_IN_TOKEN");
    return accountId;
  };

const ownerOfSiwe = async (
  deps: Deps,
  req: Request,
  siwe: { message: string; signature: string },
): Promise<WhoIsThere> => {
  const { identity, spend } = await readSiwe(deps, req, siwe);
  const who = ownerOf(identity);
  return async (tx, now) => {
    await spend(tx);
    return who(tx, now);
  };
};
