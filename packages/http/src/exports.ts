import type { Request, Response } from "express";
import { Counter, Gauge } from "prom-client";
import { ApiError, createApiError } from "@payment-links/contracts";
import { addressBucketId } from "@payment-links/rate-limit";
import type { Clock, Metrics } from "@payment-links/runtime";
import { type StreamedFile, sendFile } from "./send-file.ts";
import { type TransferRateMonitor, createTransferRateMonitor } from "./transfer-rate-monitor.ts";
import { createSlotQueue } from "./slot-queue.ts";

/** The maximum duration of an export, as a route's timeout. */
export const exportMsMax = 60 * 60_000;

/**
 * The maximum number of concurrent exports in a process: per account, per source address (an IPv6
 * /64), and in total.
 */
const limits = { perAccount: 2, perAddress: 8, total: 60 };
/** The minimum rate at which a client must read an export (rule CALLER-35). */
const minimumRate = { bytesPerSecond: 8 * 1024, graceMs: 30_000 };
/** If a client is this far behind the minimum rate, a new export can displace its export. */
const stalledMsMin = 5_000;
/** How long an export waits for its turn to read. The wait can be long while Postgres is slow. */
const slotWaitMsMax = 30_000;
const retryAfterSeconds = 10;

/**
 * Reads one part of an export when it is its turn, on the database connection reserved for exports.
 */
export type ReadPart<Db> = <Part>(readFromDatabase: (db: Db) => Promise<Part>) => Promise<Part>;

/** Downloads of any size, which are read in parts. */
export type Exports<Db> = {
  /**
   * Sends the file that `prepareFile` returns. Throws `429` with `Retry-After` if the account, its
   * source address or the process is at its export limit. Also throws the errors of `prepareFile`.
   */
  send(
    req: Request,
    res: Response,
    accountId: string,
    prepareFile: (readPart: ReadPart<Db>) => Promise<StreamedFile>,
  ): Promise<void>;
  /** Closes the database connection reserved for exports. */
  close(): Promise<void>;
};

/** The database connection of exports. Requests never use it. */
type ExportDatabase<Db> = { get(): Promise<Db>; end(): Promise<void> };

type ExportsOptions<Db> = { clock: Clock; metrics: Metrics; database: ExportDatabase<Db> };

/** How an export ended, as values of the metric's label. */
type ExportOutcome = "whole" | "left" | "refused" | "failed" | "slow" | "displaced";

type Export = {
  accountId: string;
  address: string;
  transferRate: TransferRateMonitor;
  getBufferedBytes: () => number;
  /** Ends the export early. */
  endExport: (outcome: ExportOutcome) => void;
};

/** The client has disconnected, so the export does not read any more. */
class ClientDisconnectedError extends Error {
  override readonly name = "ClientDisconnectedError";
}

/**
 * Creates the exports of a service. Only one part of one export is read at a time, followed by a
 * pause of the same length. Therefore, all exports together use at most half of one connection's
 * time and half of the process's time.
 */
export const createExports = <Db>({
  clock,
  metrics,
  database,
}: ExportsOptions<Db>): Exports<Db> => {
  const activeExports = new Set<Export>();
  const slots = createSlotQueue(clock);
  const { ended } = createExportMetrics(metrics, activeExports);

  const createReadPart =
    (res: Response): ReadPart<Db> =>
    async (readFromDatabase) => {
      const release = await slots.acquire({ waitMsMax: slotWaitMsMax, waitersMax: limits.total });
      if (release === undefined) throw createRetryableError(res, "SERVICE_UNAVAILABLE");
      try {
        if (res.destroyed) throw new ClientDisconnectedError();
        return await readFromDatabase(await database.get());
      } finally {
        release();
      }
    };

  return {
    send: async (req, res, accountId, prepareFile) => {
      if (res.destroyed) return;
      const address = addressBucketId(req.ip ?? "");
      if (!evictForExport(activeExports, accountId, address)) {
        ended.inc({ outcome: "refused" });
        throw createRetryableError(res, "429");
      }
      let outcome: ExportOutcome | undefined;
      let remainingBytes = 0;
      const endExport = (exportOutcome: ExportOutcome): void => {
        outcome ??= exportOutcome;
        activeExports.delete(currentExport);
        res.destroy();
      };
      const transferRate = createTransferRateMonitor({
        ...minimumRate,
        clock,
        onTooSlow: () => endExport("slow"),
      });
      const getBufferedBytes = () => remainingBytes + res.writableLength;
      const currentExport: Export = {
        accountId,
        address,
        transferRate,
        getBufferedBytes,
        endExport,
      };
      const onRemainingBytes = (byteCount: number): void => {
        remainingBytes = byteCount;
      };
      activeExports.add(currentExport);
      try {
        const file = await prepareFile(createReadPart(res));
        const isComplete = await sendFile(req, res, file, { transferRate, onRemainingBytes });
        outcome ??= isComplete ? "whole" : "left";
      } catch (error) {
        outcome ??= toOutcome(error);
        if (!(error instanceof ClientDisconnectedError)) throw error;
      } finally {
        activeExports.delete(currentExport);
        ended.inc({ outcome: outcome ?? "failed" });
      }
    },
    close: () => database.end(),
  };
};

/**
 * Returns whether there is room for another export. If a limit is reached, ends the most stalled
 * export under that limit to make room. An export whose client reads fast enough is never ended.
 */
const evictForExport = (
  activeExports: ReadonlySet<Export>,
  accountId: string,
  address: string,
): boolean => {
  const shareLimits: readonly [number, (activeExport: Export) => boolean][] = [
    [limits.perAccount, (activeExport) => activeExport.accountId === accountId],
    [limits.perAddress, (activeExport) => activeExport.address === address],
    [limits.total, () => true],
  ];
  for (const [countMax, belongsToShare] of shareLimits) {
    const shareExports = [...activeExports].filter(belongsToShare);
    if (shareExports.length < countMax) continue;
    const mostStalled = findMostStalled(shareExports);
    if (mostStalled === undefined) return false;
    mostStalled.endExport("displaced");
  }
  return true;
};

const findMostStalled = (shareExports: readonly Export[]): Export | undefined => {
  const stalledExports = shareExports.filter(
    ({ transferRate }) => transferRate.getLagMs() >= stalledMsMin,
  );
  return stalledExports.toSorted(
    (a, b) => b.transferRate.getLagMs() - a.transferRate.getLagMs(),
  )[0];
};

const createRetryableError = (res: Response, code: "429" | "SERVICE_UNAVAILABLE"): ApiError => {
  if (!res.headersSent) res.setHeader("Retry-After", String(retryAfterSeconds));
  return createApiError(code);
};

const toOutcome = (error: unknown): ExportOutcome => {
  if (error instanceof ClientDisconnectedError) return "left";
  return error instanceof ApiError && error.status < 500 ? "refused" : "failed";
};

const createExportMetrics = (metrics: Metrics, activeExports: ReadonlySet<Export>) => {
  const registers = [metrics];
  const states = new Gauge({
    name: "payment_links_exports_under_way",
    help: "Exports in progress, by whether they wait for the client to read.",
    labelNames: ["state"] as const,
    registers,
    collect() {
      const waitingCount = [...activeExports].filter(({ transferRate }) =>
        transferRate.isWaitingForReader(),
      ).length;
      this.set({ state: "waiting" }, waitingCount);
      this.set({ state: "reading" }, activeExports.size - waitingCount);
    },
  });
  const heldBytes = new Gauge({
    name: "payment_links_exports_held_bytes",
    help: "Bytes of exports that were read from the database and that clients have not received.",
    registers,
    collect() {
      this.set(
        [...activeExports].reduce((sum, activeExport) => sum + activeExport.getBufferedBytes(), 0),
      );
    },
  });
  const ended = new Counter({
    name: "payment_links_exports_total",
    help: "Exports by outcome: whole, left, refused, failed, slow or displaced.",
    labelNames: ["outcome"] as const,
    registers,
  });
  return { states, heldBytes, ended };
};
