import type { Request } from "express";
import { createApiError, hashSecret } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import { parseUserCode } from "../domain/command-sign-in.ts";

/**
 * Returns the hash of the user code in the path. The response for a malformed code is the same as
 * for an unknown one.
 */
export const hashUserCode = (req: Request): Buffer => {
  const code = parseUserCode(parsePathParameter(req, "code"));
  if (code === undefined) throw createApiError("NOT_FOUND");
  return hashSecret(code);
};
