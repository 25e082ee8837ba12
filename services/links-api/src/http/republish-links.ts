import type { Request, Response } from "express";
import { outgoing, publish } from "@payment-links/bus";
import { linkSnapshot } from "@payment-links/contracts";
import { answerJson } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { linkState } from "../domain/link.ts";
import { lockLinksAfter } from "../store/links.ts";

const batchSize = 100;

/**
 * POST /internal/republish/payment-links: tells the present state of every link as a snapshot (rule
 * EVENT-5), after a lost broker or a restore. Its link is locked, so that in the log it never comes
 * after a newer state. It goes batch by batch, so that no lock is held for long. A link made
 * meanwhile tells of itself.
 */
export const republishLinks =
  (deps: Deps) =>
  async (_req: Request, res: Response): Promise<void> => {
    let publishedCount = 0;
    let afterId: string | undefined = "";
    while (afterId !== undefined) {
      const ids: string[] = await publishBatch(deps, afterId);
      deps.wakeRelay();
      publishedCount += ids.length;
      afterId = ids.length < batchSize ? undefined : ids.at(-1);
    }
    answerJson(res, 200, { publishedCount });
  };

const publishBatch = (deps: Deps, afterId: string): Promise<string[]> => {
  const now = deps.clock.now();
  return transact(deps.pool, async (tx) => {
    const links = await lockLinksAfter(tx, { afterId, linksMax: batchSize });
    const snapshots = links.map((link) => {
      const data = { link: linkState(link, now) };
      return outgoing(linkSnapshot, { key: link.id, occurredAt: now, data });
    });
    await publish(tx, snapshots);
    return links.map((link) => link.id);
  });
};
