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
 * POST /internal/introspect: another service asks who is behind a credential. 503 says that no
 * question can be answered, so services stop asking for a while. 500 says that this one cannot.
 */
export const introspectCredential =
  ({ introspect, log }: Dependencies) =>
  async (req: Request, res: Response) => {
    const request = await readJsonBody(req, IntrospectionRequest);
    const response = await introspect(request).catch((error: unknown) => {
      if (error instanceof InvalidIntrospectionResponse) throw error;
      log.warn({ err: error }, "the database cannot tell who is calling");
      throw createApiError("SERVICE_UNAVAILABLE");
    });
    sendJson(res, 200, z.encode(IntrospectionResponse, response));
  };
