import * as z from "zod";

const publicKeyPattern = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const PublicKey = z.string().regex(publicKeyPattern);
const chainIdCharsMax = 40;

/**
 * The request of links-api to settlement-listener before links-api builds a payer's transaction on
 * Solana. It contains the addresses of the payer, the owner and the token.
 */
export const SolanaAccountStateRequest = z.object({
  chainId: z.string().min(1).max(chainIdCharsMax),
  tokenAddress: PublicKey,
  payer: PublicKey,
  owner: PublicKey,
});
export type SolanaAccountStateRequest = z.output<typeof SolanaAccountStateRequest>;

/** The accounts' state on chain, at the commitment `confirmed`. */
export const SolanaAccountState = z.object({
  /** A recent blockhash. The transaction can be sent for about a minute. */
  blockhash: PublicKey,
  /**
   * The balance of the payer's associated token account in base units; 0 if the account does not
   * exist.
   */
  payerAmount: z.string().regex(/^\d{1,20}$/),
  /** Whether the owner's associated token account exists. */
  isOwnerReady: z.boolean(),
  /**
   * Whether a token program owns the destination itself. The destination is then a token account or
   * a mint, and no one can spend money that its own token account receives. Older processes omit
   * this field.
   */
  isTokenProgramAccount: z.boolean().default(false),
});
export type SolanaAccountState = z.output<typeof SolanaAccountState>;

/**
 * Fetches the state from the chain. Returns undefined if no node of the chain is configured.
 * Rejects if no node responds.
 */
export type FetchSolanaAccountState = (
  request: SolanaAccountStateRequest,
) => Promise<SolanaAccountState | undefined>;
