import type { Request, Response } from "express";
import { WalletChange, refuse } from "@payment-links/contracts";
import { answerJson, readBody, readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { changeDefaults, showWallet } from "../domain/wallet.ts";
import { publishAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockCallersAccount } from "../store/sessions.ts";
import { updateDefaults } from "../store/wallets.ts";
import { personActor } from "./actors.ts";

/**
 * PATCH /console/api/wallets/{id}: which wallet new links settle to. A new default takes over from
 * the one before. An account may be left without a default; then it is not ready for links.
 */
export const changeWallet = (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
  const walletId = readParam(req, "id");
  const change = await readBody(req, WalletChange);
  const now = deps.clock.now();
  const { wallet, token } = await transact(deps.pool, async (tx) => {
    const account = await lockCallersAccount(tx, caller);
    const before = account.wallets.find((candidate) => candidate.id === walletId);
    const token = before === undefined ? undefined : deps.catalogue.findToken(before.tokenId);
    if (before === undefined || token === undefined) throw refuse("NOT_FOUND");
    const after = changeDefaults(before, change);
    if (after === undefined) return { wallet: before, token };
    const accountId = account.id;
    await updateDefaults(tx, { accountId, chainId: token.chain.id, wallet: after });
    await insertAudit(tx, {
      at: now,
      accountId,
      actor: personActor(req, caller.credential),
      action: "wallet.changed",
      targetId: walletId,
      detail: { isDefault: after.isDefault, isChainDefault: after.isChainDefault },
    });
    await publishAccount(tx, accountId, now);
    return { wallet: after, token };
  });
  deps.wakeRelay();
  answerJson(res, 200, showWallet(wallet, token, deps.checkoutUrl));
};
