import type { Request, Response } from "express";
import {
  type CatalogueToken,
  createWalletBody,
  getWalletMode,
  newId,
} from "@payment-links/contracts";
import { sendJson, createSessionActor, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import {
  getAuditedAddress,
  decideDefault,
  buildWallet,
  serializeWallet,
} from "../domain/wallet.ts";
import { describeToken } from "../domain/email-content.ts";
import { deriveFirstAddresses, parseWalletAddress } from "../domain/wallet-address.ts";
import { publishAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { queueNotification } from "../store/emails.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { insertWallet } from "../store/wallets.ts";
import { requireWalletAddress } from "./require-wallet-address.ts";
import { cancelDefault, findEffectiveAt, scheduleDefault } from "./pending-default.ts";

/** POST /console/api/wallets: adds an address at which the owner is paid in one token. */
export const addWallet = (dependencies: Dependencies) => {
  const WalletBody = createWalletBody(dependencies.catalogue);
  return async (req: Request, res: Response, caller: Caller) => {
    const body = await readJsonBody(req, WalletBody);
    const { walletAddress: addressInput, tokenId: token, isDefault, firstAddressIndex } = body;
    const newWallet = {
      id: newId("wallet"),
      walletAddress: parseWalletAddress(token.chain, addressInput),
      token,
      isDefault: isDefault ?? undefined,
      firstAddressIndex: firstAddressIndex ?? undefined,
    };
    await requireWalletAddress(dependencies, newWallet);
    const firstAddresses = deriveFirstAddresses(token.chain, newWallet.walletAddress);
    const now = dependencies.clock.now();
    const actor = createSessionActor(req, caller.credential);
    const { wallet, pendingDefault } = await transact(dependencies.pool, async (tx) => {
      const account = await lockCallerAccount(tx, caller);
      const requestedWallet = buildWallet(newWallet, account.wallets, dependencies.catalogue);
      const mode = getWalletMode(requestedWallet);
      const effectiveAt = await findEffectiveAt(tx, dependencies, { account, mode, now });
      const { id, isDefault } = requestedWallet;
      const { immediatePatch, scheduledDefault } = decideDefault(
        { id, isDefault: false },
        { isDefault },
        { effectiveAt },
      );
      const storedWallet = { ...requestedWallet, isDefault: immediatePatch.isDefault ?? false };
      const accountId = account.id;
      const auditFields = { at: now, accountId, actor };
      await insertWallet(tx, {
        accountId,
        chainId: token.chain.id,
        wallet: storedWallet,
        firstAddresses,
        now,
      });
      await insertAudit(tx, {
        ...auditFields,
        action: "wallet.added",
        targetId: storedWallet.id,
        detail: {
          walletAddress: getAuditedAddress(storedWallet, firstAddresses),
          tokenId: token.id,
          isDefault: storedWallet.isDefault,
        },
      });
      if (scheduledDefault !== undefined) await scheduleDefault(tx, auditFields, scheduledDefault);
      else if (storedWallet.isDefault && mode === "live") await cancelDefault(tx, auditFields);
      await publishAccount(tx, accountId, now);
      if (dependencies.sendEmail !== undefined) {
        const walletAddress = getAuditedAddress(storedWallet, firstAddresses);
        await queueWalletEmail(tx, { accountId, walletAddress, token, now });
      }
      return { wallet: storedWallet, pendingDefault: scheduledDefault };
    });
    dependencies.wakeRelay();
    const { checkoutUrl } = dependencies;
    sendJson(
      res,
      201,
      serializeWallet(wallet, {
        token,
        checkoutUrl,
        firstAddresses,
        pendingDefault,
      }),
    );
  };
};

type AddedWallet = { accountId: string; walletAddress: string; token: CatalogueToken; now: Date };

const queueWalletEmail = (
  tx: Transaction,
  { accountId, walletAddress, token, now }: AddedWallet,
): Promise<void> => {
  const content = { type: "new_wallet", walletAddress, ...describeToken(token) } as const;
  const notification = { id: newId("evt"), accountId, kind: "new_wallet", content } as const;
  return queueNotification(tx, notification, now);
};
