import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeSession } from "../domain/session.ts";
import { listSessions as findSessions } from "../store/sessions.ts";

/** GET /console/api/sessions: lists the account's active sessions, newest first. */
export const listSessions =
  ({ clock, pool }: Dependencies) =>
  async (_req: Request, res: Response, { account, credential }: Caller) => {
    const sessions = await findSessions(pool, { accountId: account.id, now: clock.now() });
    sendJson(res, 200, {
      data: sessions.map((session) => serializeSession(session, credential.id)),
    });
  };
