import type { Request } from "express";
import { createApiError, isId } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";

/**
 * Parses the listener's id in the path. The response for a malformed id is the same as for an
 * unknown listener.
 */
export const parseListenerId = (req: Request): string => {
  const id = parsePathParameter(req, "id");
  if (!isId("whl", id)) throw createApiError("NOT_FOUND");
  return id;
};
