import type { Request, Response } from "express";
import { LinkIdentityBody, newId } from "@payment-links/contracts";
import { sendJson, createSessionActor, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { serializeIdentity } from "../domain/identity.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";
import { linkProvenIdentity } from "./link-proven-identity.ts";
import { verifySiweSignIn } from "./verify-siwe-sign-in.ts";

/**
 * POST /console/api/identities: links an Ethereum address to the account. A signed message proves
 * the address, as in a sign-in. Identities of the identity provider are linked through GET
 * …/session/oidc?link=true instead.
 */
export const linkIdentity =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    requireEnabledMethod(dependencies, "siwe");
    const { siwe } = await readJsonBody(req, LinkIdentityBody);
    const { identity: provenIdentity, consume } = await verifySiweSignIn(dependencies, req, siwe);
    const id = newId("idn");
    const actor = createSessionActor(req, caller.credential);
    const now = dependencies.clock.now();
    const identity = await transact(dependencies.pool, async (tx) => {
      await consume(tx);
      return linkProvenIdentity(tx, { id, provenIdentity, caller, actor, now });
    });
    sendJson(res, identity.id === id ? 201 : 200, serializeIdentity(identity));
  };
