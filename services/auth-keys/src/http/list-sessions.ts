import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showSession } from "../domain/session.ts";
import { listSessions as findSessions } from "../store/sessions.ts";

/** GET /console/api/sessions: where the account is signed in now, the newest first. */
export const listSessions =
  ({ clock, pool }: Deps) =>
  async (_req: Request, res: Response, { account, credential }: Caller) => {
    const sessions = await findSessions(pool, { accountId: account.id, now: clock.now() });
    answerJson(res, 200, { data: sessions.map((found) => showSession(found, credential.id)) });
  };
