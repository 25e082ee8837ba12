import type { Request } from "express";
import { createApiError, hashSecret } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { Db } from "@payment-links/postgres";
import { type UnsubscribeToken, findUnsubscribeToken } from "../store/unsubscribe-tokens.ts";

/** Returns what the token in a request's path refers to. Throws NOT_FOUND if it is not valid. */
export const requireUnsubscribeToken = async (
  db: Db,
  { req, now }: { req: Request; now: Date },
): Promise<UnsubscribeToken> => {
  const hash = hashSecret(parsePathParameter(req, "token"));
  const token = await findUnsubscribeToken(db, { hash, now });
  if (token === undefined) throw createApiError("NOT_FOUND");
  return token;
};
