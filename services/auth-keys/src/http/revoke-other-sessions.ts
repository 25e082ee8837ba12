import type { Request, Response } from "express";
import { createSessionActor } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { insertAuditForEach } from "../store/audit-log.ts";
import { deleteOtherSessions, lockCallerAccount } from "../store/sessions.ts";

/**
 * DELETE /console/api/sessions: ends all sessions of the account except the caller's, as if the user
 * signed out of them.
 */
export const revokeOtherSessions =
  ({ clock, pool }: Dependencies) =>
  async (req: Request, res: Response, caller: Caller) => {
    const accountId = caller.account.id;
    const actor = createSessionActor(req, caller.credential);
    const auditFields = { at: clock.now(), accountId, actor };
    await transact(pool, async (tx) => {
      // A concurrent sign-in holds the same lock until its session is visible here.
      await lockCallerAccount(tx, caller);
      const ids = await deleteOtherSessions(tx, { accountId, exceptId: caller.credential.id });
      await insertAuditForEach(tx, { ...auditFields, action: "session.revoked" }, ids);
    });
    res.status(204).end();
  };
