import type { Request, Response } from "express";
import type * as z from "zod";
import { PresenceBody } from "@payment-links/contracts";
import { readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";
import { verifyPasskey } from "./verify-passkey.ts";
import { verifySiweSignIn } from "./verify-siwe-sign-in.ts";
import {
  type ResolveAccountId,
  recordRejectionOnError,
  createIdentityOwnerResolver,
  createLinkOwnerResolver,
  renewPresence,
} from "./renew-presence.ts";
import { getMethod } from "./start-session.ts";

/**
 * POST /console/api/session/presence: proves the signed-in user's presence with a sign-in method of
 * the same account. An identity provider proves it through GET …/session/oidc?prove=true.
 */
export const provePresence =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const body = await readJsonBody(req, PresenceBody);
    const method = getMethod(body);
    requireEnabledMethod(dependencies, method);
    await recordRejectionOnError(dependencies, { req, caller, method }, async () => {
      const resolveAccountId = await createAccountIdResolver(dependencies, req, body);
      await renewPresence(dependencies, { req, res, caller, method, resolveAccountId });
    });
    res.status(204).end();
  };

const createAccountIdResolver = async (
  dependencies: Dependencies,
  req: Request,
  { passkey, siwe, token }: z.output<typeof PresenceBody>,
): Promise<ResolveAccountId> => {
  if (passkey !== undefined) return (await verifyPasskey(dependencies, req, passkey)).consume;
  return siwe === undefined
    ? createLinkOwnerResolver(token ?? "")
    : createSiweOwnerResolver(dependencies, req, siwe);
};

const createSiweOwnerResolver = async (
  dependencies: Dependencies,
  req: Request,
  siwe: { message: string; signature: string },
): Promise<ResolveAccountId> => {
  const { identity, consume } = await verifySiweSignIn(dependencies, req, siwe);
  const resolveAccountId = createIdentityOwnerResolver(identity);
  return async (tx, now) => {
    await consume(tx);
    return resolveAccountId(tx, now);
  };
};
