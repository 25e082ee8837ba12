import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import type { CredentialUse, LastUses } from "../domain/last-uses.ts";
import { saveLastUses } from "../store/last-uses.ts";

/**
 * Writes when keys and sessions were last used, with one statement for all keys and one for all
 * sessions. If a write fails, the uses are kept for the next attempt. A crash loses the uses since
 * the last write.
 */
export const flushLastUses = ({
  pool,
  apiKeyUses,
  sessionUses,
}: Pick<Dependencies, "pool" | "apiKeyUses" | "sessionUses">): BackgroundJob => ({
  name: "last uses",
  // Twice a minute, so that "last used" is never off by more than a minute.
  waitMs: 30_000,
  run: async () => {
    await flush(apiKeyUses, (uses) => saveLastUses(pool, "api-key", uses));
    await flush(sessionUses, (uses) => saveLastUses(pool, "session", uses));
  },
});

const flush = async (
  lastUses: LastUses,
  saveUses: (uses: readonly CredentialUse[]) => Promise<void>,
): Promise<void> => {
  const uses = lastUses.drain();
  try {
    await saveUses(uses);
  } catch (error) {
    for (const use of uses) lastUses.record(use);
    throw error;
  }
};
