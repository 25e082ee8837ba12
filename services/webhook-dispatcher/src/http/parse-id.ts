import type { Request } from "express";
import { createApiError, isId } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";

/**
 * Parses the id of a listener (`whl`) or an endpoint (`whe`) in the path. The response for a
 * malformed id is the same as for an unknown one.
 */
export const parseId = (req: Request, prefix: "whl" | "whe"): string => {
  const id = parsePathParameter(req, "id");
  if (!isId(prefix, id)) throw createApiError("NOT_FOUND");
  return id;
};
