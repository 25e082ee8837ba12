import type { Request, Response } from "express";
import { newId, walletBody } from "@payment-links/contracts";
import { answerJson, personActor, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { auditedAddress, decideDefault, openWallet, showWallet } from "../domain/wallet.ts";
import { firstAddresses, readWalletAddress } from "../domain/wallet-address.ts";
import { publishAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockCallersAccount } from "../store/sessions.ts";
import { insertWallet } from "../store/wallets.ts";
import { requireWalletAddress } from "./require-wallet-address.ts";
import { cancelDefault, findWait, scheduleDefault } from "./pending-default.ts";

/** POST /console/api/wallets: an address at which the owner is paid, in one token. */
export const addWallet = (deps: Deps) => {
  const WalletBody = walletBody(deps.catalogue);
  return async (req: Request, res: Response, caller: Caller) => {
    const body = await readBody(req, WalletBody);
    const { walletAddress: typed, tokenId: token, isDefault, firstAddressIndex } = body;
    const wanted = {
      id: newId("wallet"),
      walletAddress: readWalletAddress(token.chain, typed),
      token,
      isDefault: isDefault ?? undefined,
      firstAddressIndex: firstAddressIndex ?? undefined,
    };
    await requireWalletAddress(deps, wanted);
    const addresses = firstAddresses(token.chain.id, wanted.walletAddress);
    const now = deps.clock.now();
    const actor = personActor(req, caller.credential);
    const { wallet, pending } = await transact(deps.pool, async (tx) => {
      const account = await lockCallersAccount(tx, caller);
      const wished = openWallet(wanted, account.wallets, deps.catalogue);
      const waitsUntil = await findWait(tx, deps, { account, now });
      const { id, isDefault } = wished;
      const { atOnce, scheduled } = decideDefault(
        { id, isDefault: false },
        { isDefault },
        { waitsUntil },
      );
      const opened = { ...wished, isDefault: atOnce.isDefault ?? false };
      const accountId = account.id;
      const entry = { at: now, accountId, actor };
      await insertWallet(tx, {
        accountId,
        chainId: token.chain.id,
        wallet: opened,
        firstAddresses: addresses,
        now,
      });
      await insertAudit(tx, {
        ...entry,
        action: "wallet.added",
        targetId: opened.id,
        detail: {
          walletAddress: auditedAddress(opened, addresses),
          tokenId: token.id,
          isDefault: opened.isDefault,
        },
      });
      if (scheduled !== undefined) await scheduleDefault(tx, entry, scheduled);
      else if (opened.isDefault) await cancelDefault(tx, entry);
      await publishAccount(tx, accountId, now);
      return { wallet: opened, pending: scheduled };
    });
    deps.wakeRelay();
    const { checkoutUrl } = deps;
    answerJson(
      res,
      201,
      showWallet(wallet, { token, checkoutUrl, firstAddresses: addresses, pending }),
    );
  };
};
