import type { Request, Response } from "express";
import { LinkIdentityBody, newId } from "@payment-links/contracts";
import { answerJson, personActor, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { showIdentity } from "../domain/identity.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { linkProvenIdentity } from "./link-proven-identity.ts";
import { readSiwe } from "./read-siwe.ts";

/**
 * POST /console/api/identities: an Ethereum address, proven by a message as for signing in, will
 * sign in to this account too. An identity provider's subject is linked by GET
 * …/session/oidc?link=true.
 */
export const linkIdentity = (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
  requireMethod(deps, "siwe");
  const { siwe } = await readBody(req, LinkIdentityBody);
  const { identity: proven, spend } = await readSiwe(deps, req, siwe);
  const id = newId("idn");
  const actor = personActor(req, caller.credential);
  const now = deps.clock.now();
  const identity = await transact(deps.pool, async (tx) => {
    await spend(tx);
    return linkProvenIdentity(tx, { id, proven, caller, actor, now });
  });
  answerJson(res, identity.id === id ? 201 : 200, showIdentity(identity));
};
