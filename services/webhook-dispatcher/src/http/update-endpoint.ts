import type { Request, Response } from "express";
import { type Reader, body, bool, changed, refuse, text } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { nameLengthMax, showEndpoint } from "../domain/endpoint.ts";
import { abandonDeliveries } from "../store/ended-deliveries.ts";
import { lockEndpoints, updateEndpoint as storeEndpoint } from "../store/endpoints.ts";
import { readEndpointId } from "./read-endpoint-id.ts";

const fixed: Reader<never> = { schema: { not: {} }, read: () => "no_update" };

const Body = body({
  url: changed(fixed),
  name: changed(text({ lengthMin: 1, lengthMax: nameLengthMax })),
  enabled: changed(bool),
});

/** PATCH /console/api/webhook-endpoints/{id}: renames, enables or disables (rule HOOK-6). */
export const updateEndpoint =
  ({ pool, leaveEndpoint }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { name, enabled } = await readBody(req, Body);
    const id = readEndpointId(req);
    const userId = account.id;
    const endpoint = await transact(pool, async (tx) => {
      await lockEndpoints(tx, userId);
      if (enabled === false) {
        await abandonDeliveries(tx, { userId, endpointId: id, reason: "endpoint disabled" });
      }
      return storeEndpoint(tx, { userId, id }, { name, enabled });
    });
    if (endpoint === null) throw refuse("NOT_FOUND");
    if (enabled === false) leaveEndpoint(id);
    answerJson(res, 200, showEndpoint(endpoint));
  };
