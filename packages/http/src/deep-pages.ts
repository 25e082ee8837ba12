import type { Response } from "express";
import { Counter } from "prom-client";
import { refuse } from "@payment-links/contracts";
import type { Clock, Metrics } from "@payment-links/runtime";
import { type WaitBounds, createTurns } from "./turns.ts";

/** A page that begins further back than this is deep: Postgres passes over all rows before it. */
export const deepOffsetMin = 10_000;

const waitBounds: WaitBounds = { waitMsMax: 3_000, waitingMax: 100 };
const retryAfterSeconds = 1;

/** What is read for whom, and where the page begins. */
type WantedPage = { accountId: string; offset: number };

/** Reads pages of lists, deep ones one at a time (rule API-26). */
export type DeepPages = {
  /**
   * Reads a page at once, or in its turn if it is deep. Throws the refusal 429, and says when to try
   * again, if the account has another deep page under way, or if its turn does not come in time.
   */
  read<Page>(res: Response, wanted: WantedPage, work: () => Promise<Page>): Promise<Page>;
};

type DeepPagesOptions = { clock: Clock; metrics: Metrics };

/** Makes the one place of a service in which deep pages are read. */
export const createDeepPages = ({ clock, metrics }: DeepPagesOptions): DeepPages => {
  const count = createCounter(metrics);
  const turns = createTurns(clock);
  const accounts = new Set<string>();
  return {
    read: async (res, { accountId, offset }, work) => {
      if (offset < deepOffsetMin) return work();
      const isAlone = !accounts.has(accountId);
      accounts.add(accountId);
      try {
        const end = isAlone ? await turns.begin(waitBounds) : undefined;
        if (end === undefined) {
          count.inc({ outcome: "refused" });
          res.setHeader("Retry-After", String(retryAfterSeconds));
          throw refuse("429");
        }
        count.inc({ outcome: "read" });
        return await work().finally(end);
      } finally {
        if (isAlone) accounts.delete(accountId);
      }
    },
  };
};

const createCounter = (metrics: Metrics): Counter<"outcome"> =>
  new Counter({
    name: "payment_links_deep_pages_total",
    help: "Pages far down a list that were read, and that were refused as another was under way.",
    labelNames: ["outcome"],
    registers: [metrics],
  });
