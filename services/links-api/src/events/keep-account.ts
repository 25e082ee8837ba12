import type { EventHandler } from "@payment-links/bus";
import { type accountUpdated, topics } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { findAccountVersion, upsertAccount } from "../store/accounts.ts";

/** Keeps what an account says of itself; only a higher version replaces what is known. */
export const keepAccount =
  (deps: Deps): EventHandler<typeof accountUpdated> =>
  async (tx, account) => {
    const version = await findAccountVersion(tx, account.id);
    if (version !== undefined && account.version <= version) return;
    if (version !== undefined && account.version > version + 1) {
      deps.counters.skipped(topics.accounts);
    }
    await upsertAccount(tx, account);
  };
