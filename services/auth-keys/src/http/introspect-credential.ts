import type { Request, Response } from "express";
import * as z from "zod";
import {
  IntrospectionResponse,
  IntrospectionRequest,
  createApiError,
} from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import { InvalidIntrospectionResponse } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";

/**
 * POST /internal/introspect: identifies the account behind a credential for another service. 503
 * means that no request can be answered, so services pause their requests. 500 means that this one
 * request cannot be answered.
 */
export const introspectCredential =
  ({ introspect, log }: Dependencies) =>
  async (req: Request, res: Response) => {
    const request = await readJsonBody(req, IntrospectionRequest);
    const response = await introspect(request).catch((error: unknown) => {
      if (error instanceof InvalidIntrospectionResponse) throw error;
      log.warn({ err: error }, "introspection failed, database unavailable");
      throw createApiError("SERVICE_UNAVAILABLE");
    });
    sendJson(res, 200, z.encode(IntrospectionResponse, response));
  };
