import { type EventHandler, toldBy } from "@payment-links/bus";
import { accountSnapshot, type accountUpdated, topics } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { findAccountVersion, upsertAccount } from "../store/accounts.ts";

/**
 * Keeps what an account says of itself. A higher version replaces what is known, and so does a snapshot
 * told long after, as auth-keys may have been restored (rule EVENT-7).
 */
export const keepAccount =
  (deps: Deps): EventHandler<typeof accountUpdated> =>
  async (tx, account, envelope) => {
    const version = await findAccountVersion(tx, account.id);
    const isKept = await upsertAccount(tx, account, toldBy(envelope, accountSnapshot));
    if (isKept && version !== undefined && account.version > version + 1) {
      deps.counters.skipped(topics.accounts);
    }
  };
