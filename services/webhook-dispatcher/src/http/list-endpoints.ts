import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showEndpoint } from "../domain/endpoint.ts";
import { listEndpoints as findEndpoints } from "../store/endpoints.ts";

/** GET /console/api/webhook-endpoints: the account's endpoints, without those it deleted. */
export const listEndpoints =
  ({ pool }: Deps) =>
  async (_req: Request, res: Response, { account }: Caller): Promise<void> => {
    const endpoints = await findEndpoints(pool, account.id);
    answerJson(res, 200, { data: endpoints.map(showEndpoint) });
  };
