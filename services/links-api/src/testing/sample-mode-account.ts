import { type Account, newId } from "@payment-links/contracts";
import { sampleAccount, shopAddress } from "./samples.ts";

/** USDC on Base Sepolia as in the catalogue, with 6 decimals. */
export const usdcOnBaseSepolia = {
  tokenId: "usdc-base-sepolia",
  chainId: "84532",
  tokenAddress: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
};

/** Creates an account that can be paid in both modes. */
export const sampleModeAccount = (): Account => {
  const account = sampleAccount();
  const testWallet = {
    id: newId("wallet"),
    walletAddress: shopAddress,
    tokenId: usdcOnBaseSepolia.tokenId,
    chainType: "EVM" as const,
    isDefault: true,
    isChainDefault: true,
    provider: null,
    mode: "test" as const,
  };
  return { ...account, wallets: [...account.wallets, testWallet] };
};
