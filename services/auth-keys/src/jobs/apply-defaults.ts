import type { Deps } from "../deps.ts";
import { questionAboutWallet } from "../domain/wallet-address.ts";
import { getAccount } from "../store/accounts.ts";
import { applyPendingDefault } from "../store/apply-pending-default.ts";
import { findPendingDefault, listDueDefaults } from "../store/pending-defaults.ts";

const accountsMax = 100;

type Needed = Pick<Deps, "pool" | "clock" | "catalogue" | "log" | "askSolana" | "wakeRelay">;

/** Makes wallets the default whose delay is over; answers whether there may be more of them. */
export const applyDefaults = async (deps: Needed): Promise<boolean> => {
  const { catalogue, clock, pool, wakeRelay } = deps;
  const now = clock.now();
  const due = await listDueDefaults(pool, { now, rowsMax: accountsMax });
  for (const accountId of due) {
    const rejectedWalletId = await findRejectedWallet(deps, accountId);
    await applyPendingDefault(pool, { accountId, catalogue, rejectedWalletId, now });
    wakeRelay();
  }
  return due.length === accountsMax;
};

/**
 * Finds the wallet that waits to become the default and has become a token account meanwhile (rule CHAIN-26).
 * If no node answers, the check that scheduled the wallet counts.
 */
const findRejectedWallet = async (
  { askSolana, catalogue, log, pool }: Needed,
  accountId: string,
): Promise<string | undefined> => {
  const pending = await findPendingDefault(pool, accountId);
  const { wallets } = await getAccount(pool, accountId);
  const wallet = wallets.find(({ id }) => id === pending?.walletId);
  const token = wallet && catalogue.findToken(wallet.tokenId);
  const question = token && questionAboutWallet(token, wallet.walletAddress);
  if (question === undefined) return undefined;
  const facts = await askSolana(question).catch((error: unknown) => {
    log.warn({ err: error, chain: question.chainId }, "a default wallet could not be checked");
    return undefined;
  });
  return facts?.isTokenProgramAccount === true ? wallet?.id : undefined;
};
