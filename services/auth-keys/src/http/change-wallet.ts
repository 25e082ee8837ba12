import type { Request, Response } from "express";
import { type Account, type Actor, WalletChange, refuse } from "@payment-links/contracts";
import { answerJson, personActor, readBody, readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import {
  type DefaultsChange,
  changeDefaults,
  decideDefault,
  showWallet,
} from "../domain/wallet.ts";
import { getAccount, publishAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { findPendingDefault } from "../store/pending-defaults.ts";
import { lockCallersAccount } from "../store/sessions.ts";
import { findFirstAddresses, updateDefaults } from "../store/wallets.ts";
import { requireWalletAddress } from "./require-wallet-address.ts";
import { cancelDefault, findWait, scheduleDefault } from "./pending-default.ts";

/**
 * PATCH /console/api/wallets/{id}: which wallet new links settle to. A new default takes over from
 * the one before, at once or after the installation's delay. An account may be left without a default;
 * then it is not ready for links.
 */
export const changeWallet = (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
  const walletId = readParam(req, "id");
  const change = await readBody(req, WalletChange);
  if (change.isDefault === true || change.isChainDefault === true) {
    await requireStoredAddress(deps, caller, walletId);
  }
  const now = deps.clock.now();
  const actor = personActor(req, caller.credential);
  const shown = await transact(deps.pool, async (tx) => {
    const account = await lockCallersAccount(tx, caller);
    return applyChange(tx, deps, { account, walletId, change, actor, now });
  });
  deps.wakeRelay();
  const { wallet, ...more } = shown;
  answerJson(res, 200, showWallet(wallet, { ...more, checkoutUrl: deps.checkoutUrl }));
};

/** An address could have become a token account since the wallet was added. */
const requireStoredAddress = async (
  deps: Deps,
  caller: Caller,
  walletId: string,
): Promise<void> => {
  const { wallets } = await getAccount(deps.pool, caller.account.id);
  const wallet = wallets.find(({ id }) => id === walletId);
  const token = wallet && deps.catalogue.findToken(wallet.tokenId);
  if (wallet === undefined || token === undefined) throw refuse("NOT_FOUND");
  await requireWalletAddress(deps, { token, walletAddress: wallet.walletAddress });
};

type Change = {
  account: Account;
  walletId: string;
  change: DefaultsChange;
  actor: Actor;
  now: Date;
};

const applyChange = async (
  tx: Transaction,
  deps: Deps,
  { account, walletId, change, actor, now }: Change,
) => {
  const before = account.wallets.find((candidate) => candidate.id === walletId);
  const token = before === undefined ? undefined : deps.catalogue.findToken(before.tokenId);
  if (before === undefined || token === undefined) throw refuse("NOT_FOUND");
  const accountId = account.id;
  const firstAddresses = (await findFirstAddresses(tx, accountId)).get(walletId) ?? null;
  const entry = { at: now, accountId, actor };
  const waitsUntil = await findWait(tx, deps, { account, now });
  const pending = await findPendingDefault(tx, accountId);
  const decided = decideDefault(before, change, { pending, waitsUntil });
  if (decided.isCancelled) await cancelDefault(tx, entry);
  if (decided.scheduled !== undefined) await scheduleDefault(tx, entry, decided.scheduled);
  const left = decided.scheduled ?? (decided.isCancelled ? undefined : pending);
  const after = changeDefaults(before, decided.atOnce);
  if (after === undefined) return { wallet: before, token, firstAddresses, pending: left };
  await updateDefaults(tx, { accountId, chainId: token.chain.id, wallet: after });
  await insertAudit(tx, {
    ...entry,
    action: "wallet.changed",
    targetId: walletId,
    detail: { isDefault: after.isDefault, isChainDefault: after.isChainDefault },
  });
  await publishAccount(tx, accountId, now);
  return { wallet: after, token, firstAddresses, pending: left };
};
