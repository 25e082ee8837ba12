import type { Request } from "express";
import { isId, createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";

/** The endpoint that the path names; an id that cannot be one answers as an unknown endpoint. */
export const parseEndpointId = (req: Request): string => {
  const id = parsePathParameter(req, "id");
  if (!isId("whe", id)) throw createApiError("NOT_FOUND");
  return id;
};
