import * as z from "zod";
import { type ReplayResult, listDeadLetters } from "@payment-links/bus";
import { type InternalRoute, answerJson, readQuery } from "@payment-links/http";
import type { Pool } from "@payment-links/postgres";

type DeadLetterRoutes = {
  service: string;
  pool: Pool;
  /** Runs the service's dead letters again through its own handlers, in order per key. */
  replay: () => Promise<ReplayResult>;
};

/**
 * The two internal routes of a service that consumes events: `GET /internal/dead-letters/<service>`
 * lists what was set aside, the oldest first and from `afterSeq` on; `POST …/replay` runs it again.
 */
export const deadLetterRoutes = (options: DeadLetterRoutes): readonly InternalRoute[] => {
  const { pool, replay, service } = options;
  const path = `/internal/dead-letters/${service}` as const;
  return [
    {
      method: "get",
      path,
      handle: async (req, res) => {
        const { afterSeq } = readQuery(req, Query);
        const after = afterSeq === undefined ? {} : { afterSeq };
        answerJson(res, 200, { data: await listDeadLetters({ pool, ...after }) });
      },
    },
    {
      method: "post",
      path: `${path}/replay`,
      handle: async (_req, res) => answerJson(res, 200, await replay()),
    },
  ];
};

// An operator typed it. Anything but a sequence number lists from the start.
const Query = z.object({
  afterSeq: z
    .string()
    .regex(/^\d{1,18}$/)
    .optional()
    .catch(undefined),
});
