import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showEndpoint } from "../domain/endpoint.ts";
import { showRecentHours } from "../domain/endpoint-hour.ts";
import { listRecentHours } from "../store/endpoint-hours.ts";
import { listEndpoints as findEndpoints } from "../store/endpoints.ts";

/**
 * GET /console/api/webhook-endpoints: the account's endpoints, without those it deleted, and what the
 * names of their webhooks' headers begin with.
 */
export const listEndpoints =
  ({ clock, headerPrefix, pool }: Deps) =>
  async (_req: Request, res: Response, { account }: Caller): Promise<void> => {
    const endpoints = await findEndpoints(pool, account.id);
    const now = clock.now();
    const endpointIds = endpoints.map(({ id }) => id);
    const counted = await listRecentHours(pool, { endpointIds, now });
    const countedOf = Map.groupBy(counted, ({ endpointId }) => endpointId);
    answerJson(res, 200, {
      data: endpoints.map((endpoint) => ({
        ...showEndpoint(endpoint),
        recent: showRecentHours(countedOf.get(endpoint.id) ?? [], now),
      })),
      headerPrefix,
    });
  };
