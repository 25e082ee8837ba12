import { createHash } from "node:crypto";
import { refuse } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { keptMs } from "../domain/idempotency.ts";
import {
  type KeptAnswer,
  findKeptAnswer,
  keepAnswer,
  tryLockKey,
} from "../store/idempotency-keys.ts";
import { type PreparedLink, placeLink } from "./place-link.ts";

type Call = { ownerId: string; key: string; bytes: Buffer };

/**
 * Creates a link once per owner and idempotency key, and answers a repeat as the first call was
 * answered (rules API-19, API-20).
 */
export const answerOnce = async (
  deps: Deps,
  { ownerId, key, bytes }: Call,
  prepare: () => PreparedLink,
): Promise<{ answer: KeptAnswer["answer"]; isNew: boolean }> => {
  const { pool, clock } = deps;
  const ownedKey = { ownerId, key };
  const bodyHash = createHash("sha256").update(bytes).digest();
  const now = clock.now();
  const since = new Date(now.getTime() - keptMs);
  return transact(pool, async (tx) => {
    if (!(await tryLockKey(tx, ownedKey))) throw refuse("IDEMPOTENCY_KEY_IN_USE");
    const kept = await findKeptAnswer(tx, ownedKey, since);
    if (kept !== undefined) {
      if (!kept.bodyHash.equals(bodyHash)) throw refuse("IDEMPOTENCY_KEY_REUSED");
      return { answer: kept.answer, isNew: false };
    }
    // Not sooner: a repeat is answered even where its body would be refused by now, as an expiry may
    // have passed.
    const { answer } = await placeLink(tx, prepare());
    await keepAnswer(tx, ownedKey, { bodyHash, answer }, now);
    return { answer, isNew: true };
  });
};
