import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { createSessionActor, parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { insertAudit } from "../store/audit-log.ts";
import { deleteSession } from "../store/sessions.ts";

/**
 * DELETE /console/api/sessions/{id}: ends one of the account's sessions, as if the user signed out
 * of it.
 */
export const revokeSession =
  ({ clock, pool }: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller) => {
    const id = parsePathParameter(req, "id");
    const accountId = account.id;
    const at = clock.now();
    await transact(pool, async (tx) => {
      if (!(await deleteSession(tx, { id, accountId }))) throw createApiError("NOT_FOUND");
      const actor = createSessionActor(req, credential);
      await insertAudit(tx, { at, accountId, actor, action: "session.revoked", targetId: id });
    });
    res.status(204).end();
  };
