import type { Response } from "express";
import { Counter } from "prom-client";
import { refuse } from "@payment-links/contracts";
import { type Clock, type Metrics, afterMs } from "@payment-links/runtime";

/** A page that begins further back than this is deep: Postgres passes over all rows before it. */
export const deepOffsetMin = 10_000;

const waitMsMax = 3_000;
const waitingMax = 100;
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
        if (!isAlone || !(await turns.begin())) {
          count.inc({ outcome: "refused" });
          res.setHeader("Retry-After", String(retryAfterSeconds));
          throw refuse("429");
        }
        count.inc({ outcome: "read" });
        const startedAtMs = clock.elapsedMs();
        return await work().finally(() => turns.end(clock.elapsedMs() - startedAtMs));
      } finally {
        if (isAlone) accounts.delete(accountId);
      }
    },
  };
};

type Turns = {
  /** Waits for a turn; answers whether it came in time. */
  begin(): Promise<boolean>;
  /** Ends a turn. The next begins after a rest as long as this one took. */
  end(tookMs: number): void;
};

/** Turns of which there is one at a time, in the order in which they were asked for. */
const createTurns = (clock: Clock): Turns => {
  // A set keeps the order, and whoever gives up leaves it from the middle.
  const waiting = new Set<(isMine: boolean) => void>();
  let isTaken = false;

  const handOver = (): void => {
    const [next] = waiting;
    isTaken = next !== undefined;
    if (next === undefined) return;
    waiting.delete(next);
    next(true);
  };

  return {
    begin: async () => {
      if (!isTaken) {
        isTaken = true;
        return true;
      }
      if (waiting.size >= waitingMax) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const ended = new AbortController();
      waiting.add(resolve);
      void clock.until(afterMs(clock, waitMsMax), ended.signal).then(() => {
        if (waiting.delete(resolve)) resolve(false);
      });
      const isMine = await promise;
      ended.abort();
      return isMine;
    },
    end: (tookMs) => {
      const rest = new AbortController();
      void clock.until(afterMs(clock, tookMs), rest.signal).then(handOver);
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
