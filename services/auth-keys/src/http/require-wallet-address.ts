import { type CatalogueToken, refuse } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { questionAboutWallet } from "../domain/wallet-address.ts";

type Wallet = { token: CatalogueToken; walletAddress: string };

/**
 * Asks the chain whether an address on Solana can be a wallet (rule CHAIN-26). Throws SOLANA_WALLET_REQUIRED
 * for an account of a token program, and SERVICE_UNAVAILABLE if the chain is watched and no node answers:
 * money that goes to a token account of its own is lost. Accepts any address of a chain that is not watched.
 */
export const requireWalletAddress = async (
  { askSolana, log }: Pick<Deps, "askSolana" | "log">,
  { token, walletAddress }: Wallet,
): Promise<void> => {
  const question = questionAboutWallet(token, walletAddress);
  if (question === undefined) return;
  const facts = await askSolana(question).catch((error: unknown) => {
    log.warn(
      { err: error, chain: question.chainId },
      "a wallet address on Solana could not be checked",
    );
    throw refuse("SERVICE_UNAVAILABLE");
  });
  if (facts?.isTokenProgramAccount === true) throw refuse("SOLANA_WALLET_REQUIRED");
};
