import {
  listWallets,
  onWalletAnnounced,
  sendWalletRequest,
  switchOrAddChain,
  toTransactionRequest,
} from "@payment-links/chains/browser-wallets/evm-wallets.js";
import { WalletError } from "@payment-links/chains/browser-wallets/wallet-errors.js";
import type { TokenData } from "../../../api/operations.ts";
import type { RefundWallet, WalletSource } from "./refund-wallet.ts";

/** The wallets that send a refund on an EVM chain (EIP-1193, announced by EIP-6963). */
export const createEvmWallets = ({ name, symbol }: TokenData["chain"]): WalletSource => ({
  discoverWallets: () => onWalletAnnounced(() => undefined),
  listWallets: () =>
    listWallets().map((wallet): RefundWallet => ({
      id: String(wallet.info.uuid ?? ""),
      name: String(wallet.info.name),
      connect: async ({ call, chain: id }) => {
        const accounts: unknown = await sendWalletRequest(wallet, "eth_requestAccounts", []);
        const [account] = accounts as string[];
        if (account === undefined) throw new WalletError("locked");
        const chain = { id, name, coin: symbol, rpc: call?.rpcUrl ?? "" };
        if (!(await switchOrAddChain(wallet, chain))) throw new WalletError("wrongNetwork");
        return account;
      },
      prepare: async ({ call }, account) => {
        if (call === null) throw new WalletError("unsupported");
        const request: unknown = toTransactionRequest(account, call);
        return {
          send: async () =>
            String(await sendWalletRequest(wallet, "eth_sendTransaction", [request])),
        };
      },
    })),
});
