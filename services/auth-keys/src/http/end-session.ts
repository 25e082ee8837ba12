import type { Request, Response } from "express";
import { hashSecret } from "@payment-links/contracts";
import { endedSessionCookies, personActor, readSessionToken } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { insertAudit } from "../store/audit-log.ts";
import { deleteSessionByHash } from "../store/sessions.ts";

/** DELETE /console/api/session: the session ends, here at once and at every service within 5 s. */
export const endSession = (deps: Deps) => async (req: Request, res: Response) => {
  const token = readSessionToken(req, deps.cookie) ?? "";
  const now = deps.clock.now();
  await transact(deps.pool, async (tx) => {
    const ended = await deleteSessionByHash(tx, hashSecret(token));
    if (ended === undefined) return;
    await insertAudit(tx, {
      at: now,
      accountId: ended.accountId,
      actor: personActor(req, ended),
      action: "session.ended",
      targetId: ended.id,
    });
  });
  res.setHeader("Set-Cookie", endedSessionCookies(deps.cookie));
  res.status(204).end();
};
