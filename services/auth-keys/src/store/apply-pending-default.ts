import type { Catalogue } from "@payment-links/contracts";
import { type Pool, type Transaction, transact } from "@payment-links/postgres";
import { serviceActor } from "../domain/audit.ts";
import { lockAccount, publishAccount } from "./accounts.ts";
import { insertAudit } from "./audit-log.ts";
import { deletePendingDefault, findPendingDefault } from "./pending-defaults.ts";
import { updateDefaults } from "./wallets.ts";

type Due = {
  accountId: string;
  catalogue: Pick<Catalogue, "findToken">;
  /** A wallet that must not become the default. */
  rejectedWalletId: string | undefined;
  now: Date;
};

/**
 * Makes the wallet the default for which an account waits, if its time has come, and publishes that. A
 * wallet whose token has left the catalogue, or that was rejected, cannot be one: the change is dropped.
 */
export const applyPendingDefault = (pool: Pool, due: Due): Promise<void> =>
  transact(pool, (tx) => apply(tx, due));

const apply = async (
  tx: Transaction,
  { accountId, catalogue, rejectedWalletId, now }: Due,
): Promise<void> => {
  const account = await lockAccount(tx, accountId);
  // Asked behind the lock: it may have been cancelled, or put off by another word.
  const pending = await findPendingDefault(tx, accountId);
  if (pending === undefined || pending.effectiveAt > now) return;
  await deletePendingDefault(tx, accountId);
  const found = account.wallets.find(({ id }) => id === pending.walletId);
  const chainId = found && catalogue.findToken(found.tokenId)?.chain.id;
  const entry = { at: now, accountId, actor: serviceActor, targetId: pending.walletId };
  if (found === undefined || chainId === undefined || found.id === rejectedWalletId) {
    await insertAudit(tx, { ...entry, action: "wallet.default_cancelled" });
    return;
  }
  const wallet = { ...found, isDefault: true };
  await updateDefaults(tx, { accountId, chainId, wallet });
  const { isDefault, isChainDefault } = wallet;
  const detail = { isDefault, isChainDefault };
  await insertAudit(tx, { ...entry, action: "wallet.changed", detail });
  await publishAccount(tx, accountId, now);
};
