import * as z from "zod";
import {
  type ReplayOptions,
  type ReplayResult,
  discardDeadLetter,
  listDeadLetters,
} from "@payment-links/bus";
import { body, integer, createApiError, required, text } from "@payment-links/contracts";
import { type InternalRoute, sendJson, readJsonBody, parseQuery } from "@payment-links/http";
import type { Pool } from "@payment-links/postgres";
import type { Clock, Log } from "@payment-links/runtime";

type DeadLetterRouteOptions = {
  service: string;
  pool: Pool;
  clock: Clock;
  log: Log;
  /** Replays the service's dead letters through its own handlers, in order per key. */
  replay: (replayOptions: Pick<ReplayOptions, "key" | "afterSeq">) => Promise<ReplayResult>;
};

const pageSize = 100;

/**
 * Creates the internal dead-letter routes of a service that consumes events.
 *
 * - `GET /internal/dead-letters/<service>` lists dead letters after `afterSeq`, oldest first.
 * - `POST …/replay` replays all dead letters, only those of `key`, or only the lanes whose first
 *   record comes after `afterSeq`.
 * - `POST …/discard` permanently discards the record `seq` and stores it with the reason. It
 *   responds with 404 if the record does not exist.
 */
export const createDeadLetterRoutes = (
  options: DeadLetterRouteOptions,
): readonly InternalRoute[] => {
  const { clock, log, pool, replay, service } = options;
  const path = `/internal/dead-letters/${service}` as const;
  return [
    {
      method: "get",
      path,
      handle: async (req, res) => {
        const { afterSeq } = parseQuery(req, ListQuery);
        const data = await listDeadLetters({ pool, group: service, afterSeq, limit: pageSize });
        const nextAfterSeq = data.length < pageSize ? null : (data.at(-1)?.seq ?? null);
        sendJson(res, 200, { data, nextAfterSeq });
      },
    },
    {
      method: "post",
      path: `${path}/replay`,
      handle: async (req, res) => sendJson(res, 200, await replay(parseQuery(req, ReplayQuery))),
    },
    {
      method: "post",
      path: `${path}/discard`,
      handle: async (req, res) => {
        const { seq, reason } = await readJsonBody(req, DiscardRequest);
        const discardOptions = {
          group: service,
          seq: String(seq),
          reason,
          now: clock.now(),
        };
        if (!(await discardDeadLetter(pool, discardOptions))) throw createApiError("NOT_FOUND");
        log.warn({ group: service, seq, reason }, "dead letter discarded");
        sendJson(res, 200, { seq: String(seq) });
      },
    },
  ];
};

// Operators type this value. If it is not a sequence number, the list starts from the beginning.
const afterSeq = z
  .string()
  .regex(/^\d{1,18}$/)
  .optional()
  .catch(undefined);
const ListQuery = z.object({ afterSeq });
const ReplayQuery = z.object({ afterSeq, key: z.string().optional() });

const reasonLengthMax = 1_000;

/** The body of a discard request: which dead letter to discard, and why. */
const DiscardRequest = body({
  seq: required(integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  reason: required(text({ lengthMin: 1, lengthMax: reasonLengthMax })),
});
