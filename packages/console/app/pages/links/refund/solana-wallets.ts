import { WalletError, toWalletError } from "@payment-links/chains/browser-wallets/wallet-errors.js";
import { encodeBase58 } from "./base58.ts";
import type { RefundWallet, WalletSource } from "./refund-wallet.ts";

type Account = { address: string };

/** The part of a wallet of the Wallet Standard that a refund uses. */
type StandardWallet = {
  name: string;
  chains: readonly string[];
  accounts: readonly Account[];
  features: Readonly<Record<string, unknown>>;
};
type Connect = { connect: () => Promise<{ accounts: readonly Account[] }> };
type SignAndSend = {
  signAndSendTransaction: (input: {
    account: Account;
    chain: string;
    transaction: Uint8Array;
  }) => Promise<readonly { signature: Uint8Array }[]>;
};

const registeredWallets = new Set<StandardWallet>();
const connectFeature = "standard:connect";
const sendFeature = "solana:signAndSendTransaction";

/** The wallets that send a refund on Solana (Wallet Standard). */
export const createSolanaWallets = (chain: string): WalletSource => ({
  discoverWallets: () => {
    const register = (...wallets: readonly StandardWallet[]): void => {
      for (const wallet of wallets) registeredWallets.add(wallet);
    };
    const api = Object.freeze({ register });
    window.addEventListener("wallet-standard:register-wallet", (event) =>
      (event as CustomEvent<(registerApi: typeof api) => void>).detail(api),
    );
    window.dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
  },
  listWallets: () =>
    [...registeredWallets]
      .filter(
        ({ chains, features }) =>
          chains.includes(chain) && connectFeature in features && sendFeature in features,
      )
      .map((wallet) => toRefundWallet(wallet, chain)),
});

const toRefundWallet = (wallet: StandardWallet, chain: string): RefundWallet => {
  let connectedAccount: Account | undefined;
  return {
    id: wallet.name,
    name: wallet.name,
    connect: async () => {
      const { connect } = wallet.features[connectFeature] as Connect;
      const { accounts } = await convertError(connect());
      [connectedAccount] = accounts.length > 0 ? accounts : wallet.accounts;
      if (connectedAccount === undefined) throw new WalletError("locked");
      return connectedAccount.address;
    },
    prepare: async (instructions) => {
      const account = connectedAccount;
      if (account === undefined || instructions.transaction === null)
        throw new WalletError("locked");
      const transaction = Uint8Array.from(atob(instructions.transaction), (byte) =>
        byte.charCodeAt(0),
      );
      const { signAndSendTransaction } = wallet.features[sendFeature] as SignAndSend;
      return {
        send: async () => {
          const [output] = await convertError(
            signAndSendTransaction({ account, chain, transaction }),
          );
          if (output === undefined) throw new WalletError("unknown");
          return encodeBase58(output.signature);
        },
      };
    },
  };
};

const convertError = <Result>(promise: Promise<Result>): Promise<Result> =>
  promise.catch((error: unknown) => {
    throw toWalletError(error);
  });
