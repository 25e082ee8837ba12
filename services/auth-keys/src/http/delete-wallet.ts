import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { createSessionActor, parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { getAuditedAddress } from "../domain/wallet.ts";
import { publishAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { findPendingDefault } from "../store/pending-defaults.ts";
import { deleteWallet as deleteStoredWallet, findFirstAddresses } from "../store/wallets.ts";
import { cancelDefault } from "./pending-default.ts";

/**
 * DELETE /console/api/wallets/{id}: deletes a wallet. Existing links continue to settle to it. No
 * other wallet becomes the default automatically (rule CALLER-14), because the owner decides where
 * money goes.
 */
export const deleteWallet =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const walletId = parsePathParameter(req, "id");
    const now = dependencies.clock.now();
    await transact(dependencies.pool, async (tx) => {
      const account = await lockCallerAccount(tx, caller);
      const wallet = account.wallets.find((candidate) => candidate.id === walletId);
      if (wallet === undefined) throw createApiError("NOT_FOUND");
      const firstAddresses = await findFirstAddresses(tx, account.id);
      const walletAddress = getAuditedAddress(wallet, firstAddresses.get(walletId) ?? null);
      const auditFields = {
        at: now,
        accountId: account.id,
        actor: createSessionActor(req, caller.credential),
      };
      const pendingDefault = await findPendingDefault(tx, account.id);
      if (pendingDefault?.walletId === walletId) await cancelDefault(tx, auditFields);
      await deleteStoredWallet(tx, { accountId: account.id, walletId });
      await insertAudit(tx, {
        ...auditFields,
        action: "wallet.deleted",
        targetId: walletId,
        detail: { walletAddress, tokenId: wallet.tokenId },
      });
      await publishAccount(tx, account.id, now);
    });
    dependencies.wakeRelay();
    res.status(204).end();
  };
