import type { Request, Response } from "express";
import { ModeQuery } from "@payment-links/contracts";
import { parseQuery, sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { listIgnoredFieldsOf } from "../store/ignored-fields.ts";

/**
 * GET /console/api/payment-links/ignored-fields: lists the fields that creates with the account's
 * keys sent and that had no effect (rule API-43).
 */
export const listOwnIgnoredFields =
  ({ pool }: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { mode = "live" } = parseQuery(req, ModeQuery);
    const fields = await listIgnoredFieldsOf(pool, { userId: account.id, mode });
    sendJson(res, 200, {
      data: fields.map(({ seenAt, ...others }) => ({ ...others, seenAt: seenAt.toISOString() })),
    });
  };
