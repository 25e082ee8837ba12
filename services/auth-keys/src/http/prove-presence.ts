import type { Request, Response } from "express";
import type * as z from "zod";
import { PresenceBody } from "@payment-links/contracts";
import { readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { readPasskey } from "./read-passkey.ts";
import { readSiwe } from "./read-siwe.ts";
import {
  type WhoIsThere,
  notingRefusal,
  ownerOf,
  ownerOfLink,
  renewPresence,
} from "./renew-presence.ts";
import { methodOf } from "./start-session.ts";

/**
 * POST /console/api/session/presence: the signed-in person proves to be there, by what signs in to the
 * same account. An identity provider proves it by GET …/session/oidc?prove=true.
 */
export const provePresence =
  (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
    const given = await readBody(req, PresenceBody);
    const method = methodOf(given);
    requireMethod(deps, method);
    await notingRefusal(deps, { req, caller, method }, async () => {
      const who = await whoIsThere(deps, req, given);
      await renewPresence(deps, { req, res, caller, method, who });
    });
    res.status(204).end();
  };

const whoIsThere = async (
  deps: Deps,
  req: Request,
  { passkey, siwe, token }: z.output<typeof PresenceBody>,
): Promise<WhoIsThere> => {
  if (passkey !== undefined) return (await readPasskey(deps, req, passkey)).spend;
  return siwe === undefined ? ownerOfLink(token ?? "") : ownerOfSiwe(deps, req, siwe);
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
