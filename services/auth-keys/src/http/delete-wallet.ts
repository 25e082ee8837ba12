import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { personActor, readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { auditedAddress } from "../domain/wallet.ts";
import { publishAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockCallersAccount } from "../store/sessions.ts";
import { findPendingDefault } from "../store/pending-defaults.ts";
import { deleteWallet as deleteStoredWallet, findFirstAddresses } from "../store/wallets.ts";
import { cancelDefault } from "./pending-default.ts";

/**
 * DELETE /console/api/wallets/{id}: earlier links go on settling to it. No other wallet becomes the
 * default by itself (rule CALLER-14): the owner decides where money goes.
 */
export const deleteWallet = (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
  const walletId = readParam(req, "id");
  const now = deps.clock.now();
  await transact(deps.pool, async (tx) => {
    const account = await lockCallersAccount(tx, caller);
    const wallet = account.wallets.find((candidate) => candidate.id === walletId);
    if (wallet === undefined) throw refuse("NOT_FOUND");
    const firstAddresses = await findFirstAddresses(tx, account.id);
    const walletAddress = auditedAddress(wallet, firstAddresses.get(walletId) ?? null);
    const entry = {
      at: now,
      accountId: account.id,
      actor: personActor(req, caller.credential),
    };
    const pending = await findPendingDefault(tx, account.id);
    if (pending?.walletId === walletId) await cancelDefault(tx, entry);
    await deleteStoredWallet(tx, { accountId: account.id, walletId });
    await insertAudit(tx, {
      ...entry,
      action: "wallet.deleted",
      targetId: walletId,
      detail: { walletAddress, tokenId: wallet.tokenId },
    });
    await publishAccount(tx, account.id, now);
  });
  deps.wakeRelay();
  res.status(204).end();
};
