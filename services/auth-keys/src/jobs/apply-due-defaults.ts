import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { buildAccountStateRequest } from "../domain/wallet-address.ts";
import { getAccount } from "../store/accounts.ts";
import { applyPendingDefault } from "../store/apply-pending-default.ts";
import { findPendingDefault, listDueDefaults } from "../store/pending-defaults.ts";

const accountsMax = 100;

type JobDependencies = Pick<
  Dependencies,
  "pool" | "clock" | "catalogue" | "log" | "fetchSolanaAccountState" | "wakeRelay"
>;

/** Applies pending default wallets whose delay is over. */
export const applyDueDefaults = (dependencies: JobDependencies): BackgroundJob => ({
  name: "default wallets",
  waitMs: 10_000,
  run: async () => {
    const { catalogue, clock, pool, wakeRelay } = dependencies;
    const now = clock.now();
    const dueAccountIds = await listDueDefaults(pool, { now, rowsMax: accountsMax });
    for (const accountId of dueAccountIds) {
      const rejectedWalletId = await findRejectedWallet(dependencies, accountId);
      await applyPendingDefault(pool, { accountId, catalogue, rejectedWalletId, now });
      wakeRelay();
    }
    return dueAccountIds.length === accountsMax;
  },
});

/**
 * Returns the pending default wallet of an account if its address has become a token account since
 * the change was scheduled (rule CHAIN-26). If no node responds, the result of the check at that
 * time stands.
 */
const findRejectedWallet = async (
  { fetchSolanaAccountState, catalogue, log, pool }: JobDependencies,
  accountId: string,
): Promise<string | undefined> => {
  const pendingDefault = await findPendingDefault(pool, accountId);
  const { wallets } = await getAccount(pool, accountId);
  const wallet = wallets.find(({ id }) => id === pendingDefault?.walletId);
  const token = wallet && catalogue.findToken(wallet.tokenId);
  const request = token && buildAccountStateRequest(token, wallet.walletAddress);
  if (request === undefined) return undefined;
  const accountState = await fetchSolanaAccountState(request).catch((error: unknown) => {
    log.warn({ err: error, chain: request.chainId }, "could not check a default wallet");
    return undefined;
  });
  return accountState?.isTokenProgramAccount === true ? wallet?.id : undefined;
};
