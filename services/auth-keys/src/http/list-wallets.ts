import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { serializeWallet } from "../domain/wallet.ts";
import { getAccount } from "../store/accounts.ts";
import { findPendingDefault } from "../store/pending-defaults.ts";
import { findFirstAddresses } from "../store/wallets.ts";

/**
 * GET /console/api/wallets: lists the owner's wallets, oldest first. Omits wallets whose token is
 * no longer in the catalog. They cannot be serialized, and no link can settle to them.
 */
export const listWallets =
  ({ pool, catalogue, checkoutUrl }: Dependencies) =>
  async (_req: Request, res: Response, caller: Caller) => {
    const accountId = caller.account.id;
    const { wallets } = await getAccount(pool, accountId);
    const pendingDefault = await findPendingDefault(pool, accountId);
    const firstAddressesByWallet = await findFirstAddresses(pool, accountId);
    const data = wallets.flatMap((wallet) => {
      const token = catalogue.findToken(wallet.tokenId);
      const firstAddresses = firstAddressesByWallet.get(wallet.id) ?? null;
      const serializeOptions = { token, checkoutUrl, firstAddresses, pendingDefault };
      return token === undefined ? [] : [serializeWallet(wallet, { ...serializeOptions, token })];
    });
    sendJson(res, 200, { data });
  };
