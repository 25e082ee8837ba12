import { type Republish, requestRepublish, findRepublish } from "@payment-links/bus";
import { createApiError } from "@payment-links/contracts";
import { type InternalRoute, sendJson } from "@payment-links/http";
import type { Pool } from "@payment-links/postgres";
import type { Clock, Log } from "@payment-links/runtime";

type RepublishRouteOptions = {
  resource: string;
  pool: Pool;
  clock: Clock;
  log: Log;
  /** Called after an operator has requested a republish. */
  onRequested: () => void;
};

/**
 * Creates the internal routes of a service that can republish its current state (rule EVENT-5).
 * `POST /internal/republish/<resource>` requests a republish and responds with 202. The republish
 * runs in the background. Only one runs at a time, and it restarts if another one is requested.
 * `GET` returns the progress, or 404 if a republish was never requested.
 */
export const createRepublishRoutes = (options: RepublishRouteOptions): readonly InternalRoute[] => {
  const { onRequested, clock, log, pool, resource } = options;
  const path = `/internal/republish/${resource}` as const;
  return [
    {
      method: "post",
      path,
      handle: async (_req, res) => {
        const republish = await requestRepublish(pool, resource, clock.now());
        log.info({ what: resource, ...serializeRepublish(republish) }, "republish requested");
        onRequested();
        sendJson(res, 202, serializeRepublish(republish));
      },
    },
    {
      method: "get",
      path,
      handle: async (_req, res) => {
        const republish = await findRepublish(pool, resource);
        if (republish === undefined) throw createApiError("NOT_FOUND");
        sendJson(res, 200, serializeRepublish(republish));
      },
    },
  ];
};

const serializeRepublish = ({ askedAt, endedAt, publishedCount }: Republish) => ({
  publishedCount,
  askedAt: askedAt.toISOString(),
  endedAt: endedAt?.toISOString() ?? null,
});
