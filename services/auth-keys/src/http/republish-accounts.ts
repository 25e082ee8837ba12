import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { publishSnapshots } from "../store/accounts.ts";

const batchSize = 100;

/**
 * POST /internal/republish/accounts: tells the present state of every account as a snapshot (rule
 * EVENT-5), after a lost broker or a restore. It goes batch by batch, so that no lock is held for
 * long. An account made meanwhile tells of itself.
 */
export const republishAccounts = (deps: Deps) => async (_req: Request, res: Response) => {
  let publishedCount = 0;
  let lastId: string | undefined = "";
  while (lastId !== undefined) {
    const batch = { afterId: lastId, batchSize, now: deps.clock.now() };
    const ids: readonly string[] = await transact(deps.pool, (tx) => publishSnapshots(tx, batch));
    deps.wakeRelay();
    publishedCount += ids.length;
    lastId = ids.length < batchSize ? undefined : ids.at(-1);
  }
  answerJson(res, 200, { publishedCount });
};
