import { type Republish, askToRepublish, findRepublish } from "@payment-links/bus";
import { refuse } from "@payment-links/contracts";
import { type InternalRoute, answerJson } from "@payment-links/http";
import type { Pool } from "@payment-links/postgres";
import type { Clock, Log } from "@payment-links/runtime";

type RepublishRoutes = {
  what: string;
  pool: Pool;
  clock: Clock;
  log: Log;
  /** Called once it was asked for. */
  asked: () => void;
};

/**
 * The internal routes of a service that can tell its present state again (rule EVENT-5).
 * `POST /internal/republish/<what>` asks for it and answers 202: it runs in the background, one at a
 * time, and begins anew where it is asked for meanwhile. `GET` tells how far it is; 404 if nobody has
 * asked yet.
 */
export const republishRoutes = (options: RepublishRoutes): readonly InternalRoute[] => {
  const { asked, clock, log, pool, what } = options;
  const path = `/internal/republish/${what}` as const;
  return [
    {
      method: "post",
      path,
      handle: async (_req, res) => {
        const republish = await askToRepublish(pool, what, clock.now());
        log.info({ what, ...show(republish) }, "everything is to be told again");
        asked();
        answerJson(res, 202, show(republish));
      },
    },
    {
      method: "get",
      path,
      handle: async (_req, res) => {
        const republish = await findRepublish(pool, what);
        if (republish === undefined) throw refuse("NOT_FOUND");
        answerJson(res, 200, show(republish));
      },
    },
  ];
};

const show = ({ askedAt, endedAt, publishedCount }: Republish) => ({
  publishedCount,
  askedAt: askedAt.toISOString(),
  endedAt: endedAt?.toISOString() ?? null,
});
