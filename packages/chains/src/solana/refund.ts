import type { RefundRequest, RefundTransfer } from "../refund-transfer.ts";

/** The names of Solana's clusters in the Wallet Standard (`@solana/wallet-standard-chains`). */
const walletStandardChains: Readonly<Record<string, string>> = {
  solana: "solana:mainnet",
  "solana-devnet": "solana:devnet",
};

/** Names the cluster. The transaction needs the state of the sender's accounts. */
export const buildSolanaRefund = ({ token }: RefundRequest): RefundTransfer => ({
  wallet: "wallet-standard",
  chain: walletStandardChains[token.chain.id] ?? "solana:localnet",
});
