import { createHash } from "node:crypto";
import type * as z from "zod";
import { createApiError } from "@payment-links/contracts";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { retentionMs } from "../domain/idempotency.ts";
import { findStoredResponse, saveResponse, tryLockKey } from "../store/idempotency-keys.ts";

type IdempotentRequest<Response extends z.ZodType<z.core.util.JSONType>> = {
  /** What the key is unique in: an account, or a part of it in test mode. */
  scope: string;
  key: string;
  bodyBytes: Buffer;
  schema: Response;
};

/**
 * Runs an operation at most once for each scope and idempotency key. Returns the first response for
 * a repeated request (rules API-19, API-20).
 */
export const runOnce = <Response extends z.ZodType<z.core.util.JSONType>>(
  { clock, pool }: Dependencies,
  { bodyBytes, key, schema, scope }: IdempotentRequest<Response>,
  run: (tx: Transaction) => Promise<z.output<Response>>,
): Promise<{ response: z.output<Response>; isNew: boolean }> => {
  const scopedKey = { scope, key };
  const bodyHash = createHash("sha256").update(bodyBytes).digest();
  const now = clock.now();
  const since = new Date(now.getTime() - retentionMs);
  return transact(pool, async (tx) => {
    if (!(await tryLockKey(tx, scopedKey))) throw createApiError("IDEMPOTENCY_KEY_IN_USE");
    const storedResponse = await findStoredResponse(tx, scopedKey, since);
    if (storedResponse !== undefined) {
      if (!storedResponse.bodyHash.equals(bodyHash)) throw createApiError("IDEMPOTENCY_KEY_REUSED");
      return { response: schema.parse(storedResponse.answer), isNew: false };
    }
    // The body is not parsed before this point, so a repeated request gets its response even if its
    // body is no longer valid, for example because its expiration date has passed.
    const response = await run(tx);
    await saveResponse(tx, scopedKey, { bodyHash, answer: response }, now);
    return { response, isNew: true };
  });
};
