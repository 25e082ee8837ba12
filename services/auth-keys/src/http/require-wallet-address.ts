import { type CatalogueToken, createApiError } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { buildAccountStateRequest } from "../domain/wallet-address.ts";

type WalletTarget = { token: CatalogueToken; walletAddress: string };

/**
 * Checks on the chain that a Solana address can be a wallet (rule CHAIN-26). Money paid to a token
 * account that belongs to another token account would be lost. Throws SOLANA_WALLET_REQUIRED for an
 * account of a token program. Throws SERVICE_UNAVAILABLE if the chain is watched but no node
 * responds. Accepts any address of a chain that is not watched.
 */
export const requireWalletAddress = async (
  { fetchSolanaAccountState, log }: Pick<Dependencies, "fetchSolanaAccountState" | "log">,
  { token, walletAddress }: WalletTarget,
): Promise<void> => {
  const request = buildAccountStateRequest(token, walletAddress);
  if (request === undefined) return;
  const accountState = await fetchSolanaAccountState(request).catch((error: unknown) => {
    log.warn({ err: error, chain: request.chainId }, "could not check a Solana wallet address");
    throw createApiError("SERVICE_UNAVAILABLE");
  });
  if (accountState?.isTokenProgramAccount === true) throw createApiError("SOLANA_WALLET_REQUIRED");
};
