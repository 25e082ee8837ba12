import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { personActor, readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { insertAudit } from "../store/audit-log.ts";
import { deleteIdentity } from "../store/identities.ts";
import { endSessionsOf, requireWayIn } from "./require-way-in.ts";

/**
 * DELETE /console/api/identities/{id}: the identity can no longer sign in to this account. The
 * sessions that it began end, except the one that asks.
 */
export const unlinkIdentity =
  (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
    const id = readParam(req, "id");
    const accountId = caller.account.id;
    const actor = personActor(req, caller.credential);
    const entry = { at: deps.clock.now(), accountId, actor };
    await transact(deps.pool, async (tx) => {
      // The identity first: a sign-in under way holds it until its session can be found here.
      const unlinked = await deleteIdentity(tx, { id, accountId });
      if (unlinked === undefined) throw refuse("NOT_FOUND");
      await requireWayIn(tx, deps, caller);
      const { method, issuer, subject } = unlinked;
      const detail = { method, issuer, subject };
      await insertAudit(tx, { ...entry, action: "identity.unlinked", targetId: id, detail });
      await endSessionsOf(tx, entry, { wayId: id, exceptId: caller.credential.id });
    });
    res.status(204).end();
  };
