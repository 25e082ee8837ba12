import type { Request, Response } from "express";
import {
  type Account,
  type Actor,
  WalletChange,
  createApiError,
  getWalletMode,
} from "@payment-links/contracts";
import {
  sendJson,
  createSessionActor,
  readJsonBody,
  parsePathParameter,
} from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import {
  type DefaultsPatch,
  applyDefaultsPatch,
  decideDefault,
  serializeWallet,
} from "../domain/wallet.ts";
import { getAccount, publishAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { findPendingDefault } from "../store/pending-defaults.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { findFirstAddresses, updateDefaults } from "../store/wallets.ts";
import { requireWalletAddress } from "./require-wallet-address.ts";
import { cancelDefault, findEffectiveAt, scheduleDefault } from "./pending-default.ts";

/**
 * PATCH /console/api/wallets/{id}: changes to which wallet new links settle. A new default replaces
 * the previous one immediately, or after the installation's delay. An account can be without a
 * default wallet, but it cannot create links then.
 */
export const changeWallet =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const walletId = parsePathParameter(req, "id");
    const patch = await readJsonBody(req, WalletChange);
    if (patch.isDefault === true || patch.isChainDefault === true) {
      await requireStoredAddress(dependencies, caller, walletId);
    }
    const now = dependencies.clock.now();
    const actor = createSessionActor(req, caller.credential);
    const updateResult = await transact(dependencies.pool, async (tx) => {
      const account = await lockCallerAccount(tx, caller);
      return applyPatch(tx, dependencies, { account, walletId, patch, actor, now });
    });
    dependencies.wakeRelay();
    const { wallet, ...serializeOptions } = updateResult;
    sendJson(
      res,
      200,
      serializeWallet(wallet, { ...serializeOptions, checkoutUrl: dependencies.checkoutUrl }),
    );
  };

/** The address may have become a token account since the wallet was added. */
const requireStoredAddress = async (
  dependencies: Dependencies,
  caller: Caller,
  walletId: string,
): Promise<void> => {
  const { wallets } = await getAccount(dependencies.pool, caller.account.id);
  const wallet = wallets.find(({ id }) => id === walletId);
  const token = wallet && dependencies.catalogue.findToken(wallet.tokenId);
  if (wallet === undefined || token === undefined) throw createApiError("NOT_FOUND");
  await requireWalletAddress(dependencies, { token, walletAddress: wallet.walletAddress });
};

type WalletPatch = {
  account: Account;
  walletId: string;
  patch: DefaultsPatch;
  actor: Actor;
  now: Date;
};

const applyPatch = async (
  tx: Transaction,
  dependencies: Dependencies,
  { account, walletId, patch, actor, now }: WalletPatch,
) => {
  const storedWallet = account.wallets.find((candidate) => candidate.id === walletId);
  const token =
    storedWallet === undefined ? undefined : dependencies.catalogue.findToken(storedWallet.tokenId);
  if (storedWallet === undefined || token === undefined) throw createApiError("NOT_FOUND");
  const accountId = account.id;
  const firstAddresses = (await findFirstAddresses(tx, accountId)).get(walletId) ?? null;
  const auditFields = { at: now, accountId, actor };
  const mode = getWalletMode(storedWallet);
  const effectiveAt = await findEffectiveAt(tx, dependencies, { account, mode, now });
  // Only a live default can be pending.
  const currentPending = mode === "live" ? await findPendingDefault(tx, accountId) : undefined;
  const decision = decideDefault(storedWallet, patch, {
    pendingDefault: currentPending,
    effectiveAt,
  });
  if (decision.isCancelled) await cancelDefault(tx, auditFields);
  if (decision.scheduledDefault !== undefined)
    await scheduleDefault(tx, auditFields, decision.scheduledDefault);
  const pendingDefault =
    decision.scheduledDefault ?? (decision.isCancelled ? undefined : currentPending);
  const updatedWallet = applyDefaultsPatch(storedWallet, decision.immediatePatch);
  if (updatedWallet === undefined)
    return { wallet: storedWallet, token, firstAddresses, pendingDefault };
  await updateDefaults(tx, { accountId, chainId: token.chain.id, wallet: updatedWallet });
  await insertAudit(tx, {
    ...auditFields,
    action: "wallet.changed",
    targetId: walletId,
    detail: { isDefault: updatedWallet.isDefault, isChainDefault: updatedWallet.isChainDefault },
  });
  await publishAccount(tx, accountId, now);
  return { wallet: updatedWallet, token, firstAddresses, pendingDefault };
};
