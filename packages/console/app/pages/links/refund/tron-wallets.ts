import { matchesStep } from "@payment-links/chains/browser-wallets/tron-transaction.js";
import {
  broadcastTransaction,
  buildTransaction,
  connectWallet,
  getTronWeb,
  listWallets,
  onWalletAnnounced,
  signTransaction,
  switchToChain,
} from "@payment-links/chains/browser-wallets/tron-wallets.js";
import { WalletError } from "@payment-links/chains/browser-wallets/wallet-errors.js";
import type { RefundWallet, WalletSource } from "./refund-wallet.ts";

/** The wallets that send a refund on Tron (TIP-1193, announced by TIP-6963, or TronLink's own). */
export const tronWallets: WalletSource = {
  discoverWallets: () => onWalletAnnounced(() => undefined),
  listWallets: () =>
    listWallets().map((wallet): RefundWallet => ({
      id: String(wallet.info.uuid ?? ""),
      name: String(wallet.info.name),
      connect: async ({ chain }) => {
        await connectWallet(wallet);
        const tronWeb = await switchToChain(wallet, BigInt(chain ?? 0));
        if (tronWeb === undefined) throw new WalletError("wrongNetwork");
        return String(tronWeb.defaultAddress.base58);
      },
      prepare: async ({ call }, account) => {
        const tronWeb = getTronWeb(wallet);
        const tron = call?.tron;
        if (tronWeb === undefined || !call || tron === undefined) throw new WalletError("locked");
        const step = { ...call, tron };
        const transaction = await buildTransaction(tronWeb, step, account);
        if (!matchesStep(transaction, step, account)) throw new WalletError("different");
        const candidateId = String(transaction.txID).toLowerCase();
        return {
          candidateId,
          send: async () => {
            const signedTransaction = await signTransaction(tronWeb, transaction);
            if (
              signedTransaction.raw_data_hex !== transaction.raw_data_hex ||
              signedTransaction.txID !== transaction.txID
            ) {
              throw new WalletError("different");
            }
            await broadcastTransaction(tronWeb, signedTransaction);
            return candidateId;
          },
        };
      },
    })),
};
