import { createHash } from "node:crypto";
import { refuse } from "@payment-links/contracts";
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
 * answered (interfaces §1). The answer is kept in the link's own transaction, so that neither is ever
 * there without the other. Refuses another body under the same key, and a first call still running.
 */
export const answerOnce = async (
  { pool, clock }: Deps,
  { ownerId, key, bytes }: Call,
  open: () => Opened,
): Promise<{ answer: KeptAnswer["answer"]; isNew: boolean }> => {
  const ownedKey = { ownerId, key };
  const bodyHash = createHash("sha256").update(bytes).digest();
  // A repeat is answered even where its body would be refused by now, as an expiry may have passed:
  // so a refusal waits until it is known that there is nothing to repeat.
  const attempt = attemptTo(open);
  const now = clock.now();
  const since = new Date(now.getTime() - keptMs);

  // Nothing is thrown inside: a refusal there would cost the pool a connection.
  const outcome = await pool.transaction(async (tx) => {
    if (!(await tryLockKey(tx, ownedKey))) return "in use";
    const kept = await findKeptAnswer(tx, ownedKey, since);
    if (kept !== undefined) return kept;
    if ("error" in attempt) return "nothing kept";
    await insertLink(tx, attempt.opened);
    await keepAnswer(tx, ownedKey, { bodyHash, answer: attempt.opened.answer }, now);
    return "created";
  });

  if (outcome === "in use") throw refuse("IDEMPOTENCY_KEY_IN_USE");
  if (typeof outcome === "object") {
    if (!outcome.bodyHash.equals(bodyHash)) throw refuse("IDEMPOTENCY_KEY_REUSED");
    return { answer: outcome.answer, isNew: false };
  }
  if ("error" in attempt) throw attempt.error;
  return { answer: attempt.opened.answer, isNew: true };
};

const attemptTo = (open: () => Opened): { opened: Opened } | { error: unknown } => {
  try {
    return { opened: open() };
  } catch (error) {
    return { error };
  }
};
