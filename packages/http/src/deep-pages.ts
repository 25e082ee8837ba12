import type { Response } from "express";
import { Counter } from "prom-client";
import { createApiError } from "@payment-links/contracts";
import type { Clock, Metrics } from "@payment-links/runtime";
import { type WaitLimits, createSlotQueue } from "./slot-queue.ts";

/** Pages with at least this offset are deep. Postgres has to skip all rows before a page. */
export const deepOffsetMin = 10_000;

const waitLimits: WaitLimits = { waitMsMax: 3_000, waitersMax: 100 };
const retryAfterSeconds = 1;

/**
 * The account that requests a page, and the page's offset. `isScan` is true if the query can read
 * all rows of the account at any offset.
 */
type PageRequest = { accountId: string; offset: number; isScan?: boolean };

/** Reads pages of lists. Deep pages are read one at a time (rule API-26). */
export type DeepPages = {
  /**
   * Reads a page immediately, or queues it if it is deep. Throws `429` with `Retry-After` if the
   * account already has a deep page in progress, the queue is full, or the wait is too long.
   */
  read<Page>(res: Response, pageRequest: PageRequest, readPage: () => Promise<Page>): Promise<Page>;
};

type DeepPagesOptions = { clock: Clock; metrics: Metrics };

/** Creates the deep-page queue of a service. A service must have only one. */
export const createDeepPages = ({ clock, metrics }: DeepPagesOptions): DeepPages => {
  const outcomeCounter = createCounter(metrics);
  const slots = createSlotQueue(clock);
  const readingAccounts = new Set<string>();
  return {
    read: async (res, { accountId, isScan = false, offset }, readPage) => {
      if (offset < deepOffsetMin && !isScan) return readPage();
      const isOnlyDeepPage = !readingAccounts.has(accountId);
      readingAccounts.add(accountId);
      try {
        const release = isOnlyDeepPage ? await slots.acquire(waitLimits) : undefined;
        if (release === undefined) {
          outcomeCounter.inc({ outcome: "refused" });
          res.setHeader("Retry-After", String(retryAfterSeconds));
          throw createApiError("429");
        }
        outcomeCounter.inc({ outcome: "read" });
        return await readPage().finally(release);
      } finally {
        if (isOnlyDeepPage) readingAccounts.delete(accountId);
      }
    },
  };
};

const createCounter = (metrics: Metrics): Counter<"outcome"> =>
  new Counter({
    name: "payment_links_deep_pages_total",
    help: "Deep list pages that were read, or refused because another one was being read.",
    labelNames: ["outcome"],
    registers: [metrics],
  });
