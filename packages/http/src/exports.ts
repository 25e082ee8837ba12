import type { Request, Response } from "express";
import { Counter, Gauge } from "prom-client";
import { Refusal, refuse } from "@payment-links/contracts";
import { addressBucketId } from "@payment-links/rate-limit";
import type { Clock, Metrics } from "@payment-links/runtime";
import { type StreamedFile, answerFile } from "./answer-file.ts";
import { type ReadingPace, createReadingPace } from "./reading-pace.ts";
import { createTurns } from "./turns.ts";

/** How long a route lets an export take. */
export const exportMsMax = 60 * 60_000;

/** Exports at a time in a process: of one account, of one source address (an IPv6 /64), and in total. */
const limits = { perAccount: 2, perAddress: 8, inAll: 60 };
/** How fast a reader must take an export (rule CALLER-35). */
const paceLimit = { bytesPerSecond: 8 * 1024, graceMs: 30_000 };
/** An export whose reader is so far behind that rate makes room for a new one. */
const stalledMsMin = 5_000;
/** How long an export waits for its turn to read, for example while Postgres is slow. */
const turnWaitMsMax = 30_000;
const retryAfterSeconds = 10;

/** Reads one part of an export in its turn, on the connection that exports have. */
export type ReadPart<Db> = <Part>(read: (db: Db) => Promise<Part>) => Promise<Part>;

/** Files of any length that people download, each read part by part. */
export type Exports<Db> = {
  /**
   * Sends the file that `prepare` returns. Throws the refusal 429, with `Retry-After`, if the account, its
   * source address or the process has its share of exports; throws what `prepare` throws.
   */
  send(
    req: Request,
    res: Response,
    accountId: string,
    prepare: (readPart: ReadPart<Db>) => Promise<StreamedFile>,
  ): Promise<void>;
  /** Closes the connection that exports have. */
  close(): Promise<void>;
};

/** The connection of exports, which is none that requests use. */
type ExportDatabase<Db> = { get(): Promise<Db>; end(): Promise<void> };

type ExportsOptions<Db> = { clock: Clock; metrics: Metrics; database: ExportDatabase<Db> };

/** How an export ended: the values of the metric's label. */
type Outcome = "whole" | "left" | "refused" | "failed" | "slow" | "displaced";

type Export = {
  accountId: string;
  address: string;
  pace: ReadingPace;
  heldBytes: () => number;
  /** Ends it before its time. */
  end: (outcome: Outcome) => void;
};

/** The reader is gone, so nothing more is read for it. */
class ReaderLeftError extends Error {
  override readonly name = "ReaderLeftError";
}

/**
 * Creates the exports of a service. One part of one export is read at a time, and afterwards none is read
 * for as long as that took. All exports together take half of one connection and half of the process' time.
 */
export const createExports = <Db>({
  clock,
  metrics,
  database,
}: ExportsOptions<Db>): Exports<Db> => {
  const underWay = new Set<Export>();
  const turns = createTurns(clock);
  const { ended } = createMetrics(metrics, underWay);

  const createReadPart =
    (res: Response): ReadPart<Db> =>
    async (read) => {
      const end = await turns.begin({ waitMsMax: turnWaitMsMax, waitingMax: limits.inAll });
      if (end === undefined) throw refuseForNow(res, "SERVICE_UNAVAILABLE");
      try {
        if (res.destroyed) throw new ReaderLeftError();
        return await read(await database.get());
      } finally {
        end();
      }
    };

  return {
    send: async (req, res, accountId, prepare) => {
      if (res.destroyed) return;
      const address = addressBucketId(req.ip ?? "");
      if (!makeRoom(underWay, accountId, address)) {
        ended.inc({ outcome: "refused" });
        throw refuseForNow(res, "429");
      }
      let outcome: Outcome | undefined;
      let remainingBytes = 0;
      const end = (endedAs: Outcome): void => {
        outcome ??= endedAs;
        underWay.delete(own);
        res.destroy();
      };
      const pace = createReadingPace({ ...paceLimit, clock, onTooSlow: () => end("slow") });
      const heldBytes = () => remainingBytes + res.writableLength;
      const own: Export = { accountId, address, pace, heldBytes, end };
      const onRemaining = (byteCount: number): void => {
        remainingBytes = byteCount;
      };
      underWay.add(own);
      try {
        const file = await prepare(createReadPart(res));
        const isWhole = await answerFile(req, res, file, { pace, onRemaining });
        outcome ??= isWhole ? "whole" : "left";
      } catch (error) {
        outcome ??= outcomeOf(error);
        if (!(error instanceof ReaderLeftError)) throw error;
      } finally {
        underWay.delete(own);
        ended.inc({ outcome: outcome ?? "failed" });
      }
    },
    close: () => database.end(),
  };
};

/**
 * Whether there is room for another export. Where a share is used up, the most stalled export of that share
 * ends; one whose reader keeps up never does.
 */
const makeRoom = (underWay: ReadonlySet<Export>, accountId: string, address: string): boolean => {
  const shares: readonly [number, (one: Export) => boolean][] = [
    [limits.perAccount, (one) => one.accountId === accountId],
    [limits.perAddress, (one) => one.address === address],
    [limits.inAll, () => true],
  ];
  for (const [countMax, isOfShare] of shares) {
    const members = [...underWay].filter(isOfShare);
    if (members.length < countMax) continue;
    const stalled = findMostStalled(members);
    if (stalled === undefined) return false;
    stalled.end("displaced");
  }
  return true;
};

const findMostStalled = (members: readonly Export[]): Export | undefined => {
  const stalled = members.filter(({ pace }) => pace.behindMs() >= stalledMsMin);
  return stalled.toSorted((a, b) => b.pace.behindMs() - a.pace.behindMs())[0];
};

const refuseForNow = (res: Response, code: "429" | "SERVICE_UNAVAILABLE"): Refusal => {
  if (!res.headersSent) res.setHeader("Retry-After", String(retryAfterSeconds));
  return refuse(code);
};

const outcomeOf = (error: unknown): Outcome => {
  if (error instanceof ReaderLeftError) return "left";
  return error instanceof Refusal && error.status < 500 ? "refused" : "failed";
};

const createMetrics = (metrics: Metrics, underWay: ReadonlySet<Export>) => {
  const registers = [metrics];
  const states = new Gauge({
    name: "payment_links_exports_under_way",
    help: "Exports under way, by whether they wait for their reader.",
    labelNames: ["state"] as const,
    registers,
    collect() {
      const waitingCount = [...underWay].filter(({ pace }) => pace.isWaiting()).length;
      this.set({ state: "waiting" }, waitingCount);
      this.set({ state: "reading" }, underWay.size - waitingCount);
    },
  });
  const heldBytes = new Gauge({
    name: "payment_links_exports_held_bytes",
    help: "Bytes of exports that were read and that their readers have not taken.",
    registers,
    collect() {
      this.set([...underWay].reduce((sum, one) => sum + one.heldBytes(), 0));
    },
  });
  const ended = new Counter({
    name: "payment_links_exports_total",
    help: "Exports by how they ended: whole, left, refused, failed, slow or displaced.",
    labelNames: ["outcome"] as const,
    registers,
  });
  return { states, heldBytes, ended };
};
