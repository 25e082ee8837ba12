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
import { type NewLink, insertLink } from "../store/links.ts";

type Call = { ownerId: string; key: string; bytes: Buffer };
type Opened = NewLink & { answer: KeptAnswer["answer"] };

/**
 * Creates a link once per owner and idempotency key, and answers a repeat as the first call was
 * answered (rules API-19, API-20).
 */
export const answerOnce = async (
  { pool, clock }: Deps,
  { ownerId, key, bytes }: Call,
  open: () => Opened,
): Promise<{ answer: KeptAnswer["answer"]; isNew: boolean }> => {
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
    const opened = open();
    await insertLink(tx, opened);
    await keepAnswer(tx, ownedKey, { bodyHash, answer: opened.answer }, now);
    return { answer: opened.answer, isNew: true };
  });
};
