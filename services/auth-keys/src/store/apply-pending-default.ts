import type { Catalogue } from "@payment-links/contracts";
import { type Pool, type Transaction, transact } from "@payment-links/postgres";
import { serviceActor } from "../domain/audit.ts";
import { lockAccount, publishAccount } from "./accounts.ts";
import { insertAudit } from "./audit-log.ts";
import { deletePendingDefault, findPendingDefault } from "./pending-defaults.ts";
import { updateDefaults } from "./wallets.ts";

type DueDefault = {
  accountId: string;
  catalogue: Pick<Catalogue, "findToken">;
  /** A wallet that must not become the default. */
  rejectedWalletId: string | undefined;
  now: Date;
};

/**
 * Applies and publishes an account's pending default wallet if it is due. Cancels the change if the
 * wallet was rejected or its token is no longer in the catalog.
 */
export const applyPendingDefault = (pool: Pool, dueDefault: DueDefault): Promise<void> =>
  transact(pool, (tx) => applyDefault(tx, dueDefault));

const applyDefault = async (
  tx: Transaction,
  { accountId, catalogue, rejectedWalletId, now }: DueDefault,
): Promise<void> => {
  const account = await lockAccount(tx, accountId);
  // Reads the change under the lock, because it may have been cancelled or postponed in the
  // meantime.
  const pendingDefault = await findPendingDefault(tx, accountId);
  if (pendingDefault === undefined || pendingDefault.effectiveAt > now) return;
  await deletePendingDefault(tx, accountId);
  const storedWallet = account.wallets.find(({ id }) => id === pendingDefault.walletId);
  const chainId = storedWallet && catalogue.findToken(storedWallet.tokenId)?.chain.id;
  const auditFields = {
    at: now,
    accountId,
    actor: serviceActor,
    targetId: pendingDefault.walletId,
  };
  if (storedWallet === undefined || chainId === undefined || storedWallet.id === rejectedWalletId) {
    await insertAudit(tx, { ...auditFields, action: "wallet.default_cancelled" });
    return;
  }
  const wallet = { ...storedWallet, isDefault: true };
  await updateDefaults(tx, { accountId, chainId, wallet });
  const { isDefault, isChainDefault } = wallet;
  const detail = { isDefault, isChainDefault };
  await insertAudit(tx, { ...auditFields, action: "wallet.changed", detail });
  await publishAccount(tx, accountId, now);
};
