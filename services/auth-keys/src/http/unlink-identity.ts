import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { insertAudit } from "../store/audit-log.ts";
import { deleteIdentity } from "../store/identities.ts";
import { deleteSessionsOfIdentity } from "../store/sessions.ts";
import { personActor } from "./actors.ts";

/**
 * DELETE /console/api/identities/{id}: the identity can no longer sign in to this account. The
 * sessions that it began end, except the one that asks.
 */
export const unlinkIdentity =
  ({ clock, pool }: Deps) =>
  async (req: Request, res: Response, { account, credential }: Caller) => {
    const id = readParam(req, "id");
    const accountId = account.id;
    const entry = {
      at: clock.now(),
      accountId,
      actor: personActor(req, credential),
    };
    await transact(pool, async (tx) => {
      // The identity first: a sign-in under way holds it until its session can be found here.
      const unlinked = await deleteIdentity(tx, { id, accountId });
      if (unlinked === undefined) throw refuse("NOT_FOUND");
      const { method, issuer, subject } = unlinked;
      const detail = { method, issuer, subject };
      await insertAudit(tx, { ...entry, action: "identity.unlinked", targetId: id, detail });
      const others = { identityId: id, exceptId: credential.id };
      for (const targetId of await deleteSessionsOfIdentity(tx, others)) {
        await insertAudit(tx, { ...entry, action: "session.revoked", targetId });
      }
    });
    res.status(204).end();
  };
