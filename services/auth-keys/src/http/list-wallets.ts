import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showWallet } from "../domain/wallet.ts";
import { getAccount } from "../store/accounts.ts";
import { findPendingDefault } from "../store/pending-defaults.ts";
import { findFirstAddresses } from "../store/wallets.ts";

/**
 * GET /console/api/wallets: the owner's wallets, oldest first. One whose token has left the catalogue
 * cannot be shown, and no link can settle to it.
 */
export const listWallets =
  ({ pool, catalogue, checkoutUrl }: Deps) =>
  async (_req: Request, res: Response, caller: Caller) => {
    const accountId = caller.account.id;
    const { wallets } = await getAccount(pool, accountId);
    const pending = await findPendingDefault(pool, accountId);
    const addresses = await findFirstAddresses(pool, accountId);
    const data = wallets.flatMap((wallet) => {
      const token = catalogue.findToken(wallet.tokenId);
      const firstAddresses = addresses.get(wallet.id) ?? null;
      const shown = { token, checkoutUrl, firstAddresses, pending };
      return token === undefined ? [] : [showWallet(wallet, { ...shown, token })];
    });
    answerJson(res, 200, { data });
  };
