import type { Request, Response } from "express";
import type { Route } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { describeApi } from "./describe-api.ts";

/** GET /v1/openapi.json: the OpenAPI 3.1 document of the routes given, written once at the start. */
export const getOpenapi = (routes: readonly Route[], { baseUrl }: Pick<Deps, "baseUrl">) => {
  const text = JSON.stringify(describeApi(routes, { baseUrl }));
  return (_req: Request, res: Response): void => {
    res.type("json").send(text);
  };
};
