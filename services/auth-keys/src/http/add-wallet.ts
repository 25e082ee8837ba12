import type { Request, Response } from "express";
import { newId, walletBody } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { openWallet, showWallet } from "../domain/wallet.ts";
import { readWalletAddress } from "../domain/wallet-address.ts";
import { publishAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockCallersAccount } from "../store/sessions.ts";
import { insertWallet } from "../store/wallets.ts";
import { personActor } from "./actors.ts";

/** POST /console/api/wallets: an address at which the owner is paid, in one token. */
export const addWallet = (deps: Deps) => {
  const WalletBody = walletBody(deps.catalogue);
  return async (req: Request, res: Response, caller: Caller) => {
    const { walletAddress: typed, tokenId: token, isDefault } = await readBody(req, WalletBody);
    const wanted = {
      id: newId("wallet"),
      walletAddress: readWalletAddress(token.chain, typed),
      token,
      isDefault: isDefault ?? undefined,
    };
    const now = deps.clock.now();
    const wallet = await transact(deps.pool, async (tx) => {
      const account = await lockCallersAccount(tx, caller);
      const opened = openWallet(wanted, account.wallets, deps.catalogue);
      const accountId = account.id;
      await insertWallet(tx, { accountId, chainId: token.chain.id, wallet: opened, now });
      await insertAudit(tx, {
        at: now,
        accountId,
        actor: personActor(req, caller.credential),
        action: "wallet.added",
        targetId: opened.id,
        detail: {
          walletAddress: opened.walletAddress,
          tokenId: token.id,
          isDefault: opened.isDefault,
        },
      });
      await publishAccount(tx, accountId, now);
      return opened;
    });
    deps.wakeRelay();
    answerJson(res, 201, showWallet(wallet, token, deps.checkoutUrl));
  };
};
