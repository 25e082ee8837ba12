import type { RefundInstructions, TokenData } from "../../../api/operations.ts";
import type { RefundWallet, WalletSource } from "./refund-wallet.ts";

const loadWalletSource = async (
  { chain, wallet }: RefundInstructions,
  token: TokenData,
): Promise<WalletSource | undefined> => {
  if (wallet === "EIP-1193")
    return (await import("./evm-wallets.ts")).createEvmWallets(token.chain);
  if (wallet === "TronWeb") return (await import("./tron-wallets.ts")).tronWallets;
  if (wallet === "wallet-standard" && chain !== null)
    return (await import("./solana-wallets.ts")).createSolanaWallets(chain);
  return undefined;
};

/** Returns the wallets in this browser that can send a refund. */
export const findRefundWallets = async (
  instructions: RefundInstructions,
  token: TokenData,
): Promise<readonly RefundWallet[]> => {
  const source = await loadWalletSource(instructions, token);
  source?.discoverWallets();
  return source?.listWallets() ?? [];
};
