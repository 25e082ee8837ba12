import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeEndpoint } from "../domain/endpoint.ts";
import { serializeRecentHours } from "../domain/endpoint-hour.ts";
import { listRecentHours } from "../store/endpoint-hours.ts";
import { listEndpoints as findEndpoints } from "../store/endpoints.ts";

/**
 * GET /console/api/webhook-endpoints: returns the account's endpoints except deleted ones, and the
 * name prefix of their webhook headers.
 */
export const listEndpoints =
  ({ clock, headerPrefix, pool }: Dependencies) =>
  async (_req: Request, res: Response, { account }: Caller): Promise<void> => {
    const endpoints = await findEndpoints(pool, account.id);
    const now = clock.now();
    const endpointIds = endpoints.map(({ id }) => id);
    const recentHours = await listRecentHours(pool, { endpointIds, now });
    const hoursByEndpoint = Map.groupBy(recentHours, ({ endpointId }) => endpointId);
    sendJson(res, 200, {
      data: endpoints.map((endpoint) => ({
        ...serializeEndpoint(endpoint),
        recent: serializeRecentHours(hoursByEndpoint.get(endpoint.id) ?? [], now),
      })),
      headerPrefix,
    });
  };
