import type { Request } from "express";
import { isId, createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";

/**
 * Parses the endpoint's id in the path. The response for a malformed id is the same as for an
 * unknown endpoint.
 */
export const parseEndpointId = (req: Request): string => {
  const id = parsePathParameter(req, "id");
  if (!isId("whe", id)) throw createApiError("NOT_FOUND");
  return id;
};
