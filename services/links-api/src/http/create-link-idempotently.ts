import { createHash } from "node:crypto";
import { createApiError } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { retentionMs } from "../domain/idempotency.ts";
import {
  type StoredResponse,
  findStoredResponse,
  saveResponse,
  tryLockKey,
} from "../store/idempotency-keys.ts";
import { type PreparedLink, insertPreparedLink } from "./insert-prepared-link.ts";

type IdempotentRequest = { ownerId: string; key: string; bodyBytes: Buffer };

/**
 * Creates at most one link for each owner and idempotency key. Returns the first response for a
 * repeated request (rules API-19, API-20).
 */
export const createLinkIdempotently = async (
  dependencies: Dependencies,
  { ownerId, key, bodyBytes }: IdempotentRequest,
  prepare: () => PreparedLink,
): Promise<{ response: StoredResponse["answer"]; isNew: boolean }> => {
  const { pool, clock } = dependencies;
  const ownedKey = { ownerId, key };
  const bodyHash = createHash("sha256").update(bodyBytes).digest();
  const now = clock.now();
  const since = new Date(now.getTime() - retentionMs);
  return transact(pool, async (tx) => {
    if (!(await tryLockKey(tx, ownedKey))) throw createApiError("IDEMPOTENCY_KEY_IN_USE");
    const storedResponse = await findStoredResponse(tx, ownedKey, since);
    if (storedResponse !== undefined) {
      if (!storedResponse.bodyHash.equals(bodyHash)) throw createApiError("IDEMPOTENCY_KEY_REUSED");
      return { response: storedResponse.answer, isNew: false };
    }
    // The body is not parsed before this point, so a repeated request gets its response even if its
    // body is no longer valid, for example because its expiration date has passed.
    const { response } = await insertPreparedLink(tx, prepare());
    await saveResponse(tx, ownedKey, { bodyHash, answer: response }, now);
    return { response, isNew: true };
  });
};
