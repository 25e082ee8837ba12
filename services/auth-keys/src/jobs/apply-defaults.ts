import type { Deps } from "../deps.ts";
import { applyPendingDefault } from "../store/apply-pending-default.ts";
import { listDueDefaults } from "../store/pending-defaults.ts";

const accountsMax = 100;

/** Makes wallets the default whose delay is over; answers whether there may be more of them. */
export const applyDefaults = async ({
  catalogue,
  clock,
  pool,
  wakeRelay,
}: Pick<Deps, "pool" | "clock" | "catalogue" | "wakeRelay">): Promise<boolean> => {
  const now = clock.now();
  const due = await listDueDefaults(pool, { now, rowsMax: accountsMax });
  for (const accountId of due) {
    await applyPendingDefault(pool, { accountId, catalogue, now });
    wakeRelay();
  }
  return due.length === accountsMax;
};
