import type { Response } from "express";
import { Counter } from "prom-client";
import { refuse } from "@payment-links/contracts";
import type { Clock, Metrics } from "@payment-links/runtime";
import { createTurns } from "./turns.ts";

/** Exports that an account may have under way in a process, and all accounts together. */
const limits = { perAccount: 2, inAll: 20 };
const retryAfterSeconds = 10;

/** Reads a part of an export in its turn. */
export type ReadPart = <Part>(read: () => Promise<Part>) => Promise<Part>;

/** Files of any length that people take away, each read part by part. */
export type Exports = {
  /**
   * Makes one, whose parts are read in turns. Throws the refusal 429, and says when to try again, if the
   * account has two under way. `work` answers whether all of it was sent.
   */
  make(
    res: Response,
    accountId: string,
    work: (readPart: ReadPart) => Promise<boolean>,
  ): Promise<void>;
};

type ExportsOptions = { clock: Clock; metrics: Metrics };

/**
 * Makes the one place of a service in which exports are made. One part of one of them is read at a time,
 * and as long as it took none is read after it: together they take half of one connection of a pool, and
 * half of the process' time, however many they are and however long.
 */
export const createExports = ({ clock, metrics }: ExportsOptions): Exports => {
  const count = createCounter(metrics);
  const underWay: string[] = [];
  const turns = createTurns(clock);

  const readPart: ReadPart = async (read) => {
    const end = await turns.begin();
    return read().finally(end);
  };

  return {
    make: async (res, accountId, work) => {
      const ownCount = underWay.filter((id) => id === accountId).length;
      if (ownCount >= limits.perAccount || underWay.length >= limits.inAll) {
        count.inc({ outcome: "refused" });
        res.setHeader("Retry-After", String(retryAfterSeconds));
        throw refuse("429");
      }
      underWay.push(accountId);
      let outcome = "failed";
      try {
        outcome = (await work(readPart)) ? "whole" : "left";
      } finally {
        underWay.splice(underWay.indexOf(accountId), 1);
        count.inc({ outcome });
      }
    },
  };
};

const createCounter = (metrics: Metrics): Counter<"outcome"> =>
  new Counter({
    name: "payment_links_exports_total",
    help: "Exports that were sent whole, left by their reader, refused as others were under way, or that failed.",
    labelNames: ["outcome"],
    registers: [metrics],
  });
