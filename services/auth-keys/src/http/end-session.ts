import type { Request, Response } from "express";
import { hashSecret } from "@payment-links/contracts";
import {
  serializeExpiredSessionCookies,
  createSessionActor,
  readSessionToken,
} from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { insertAudit } from "../store/audit-log.ts";
import { deleteSessionByHash } from "../store/sessions.ts";

/**
 * DELETE /console/api/session: ends the session. It stops working immediately in this service, and
 * within 5 s in every other service.
 */
export const endSession = (dependencies: Dependencies) => async (req: Request, res: Response) => {
  const token = readSessionToken(req, dependencies.cookie) ?? "";
  const now = dependencies.clock.now();
  await transact(dependencies.pool, async (tx) => {
    const endedSession = await deleteSessionByHash(tx, hashSecret(token));
    if (endedSession === undefined) return;
    await insertAudit(tx, {
      at: now,
      accountId: endedSession.accountId,
      actor: createSessionActor(req, endedSession),
      action: "session.ended",
      targetId: endedSession.id,
    });
  });
  res.setHeader("Set-Cookie", serializeExpiredSessionCookies(dependencies.cookie));
  res.status(204).end();
};
