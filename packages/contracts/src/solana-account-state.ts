import * as z from "zod";

const publicKeyPattern = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const PublicKey = z.string().regex(publicKeyPattern);
const chainIdCharsMax = 40;

/**
 * What links-api asks settlement-listener before it makes a payer's transaction on Solana: who pays
 * whom in which token. All three are addresses.
 */
export const SolanaAccountStateRequest = z.object({
  chainId: z.string().min(1).max(chainIdCharsMax),
  tokenAddress: PublicKey,
  payer: PublicKey,
  owner: PublicKey,
});
export type SolanaAccountStateRequest = z.output<typeof SolanaAccountStateRequest>;

/** What the chain says of it, at the commitment `confirmed`. */
export const SolanaAccountState = z.object({
  /** Of a block of now: the transaction can be sent for a minute or so. */
  blockhash: PublicKey,
  /** What the payer's usual token account holds, in base units; 0 where there is none. */
  payerAmount: z.string().regex(/^\d{1,20}$/),
  /** Whether the owner's usual token account is there. */
  isOwnerReady: z.boolean(),
  /**
   * Whether a token program owns the destination itself: it is a token account or a mint, and nobody can
   * spend what a token account of its own receives. Records of older processes lack it.
   */
  isTokenProgramAccount: z.boolean().default(false),
});
export type SolanaAccountState = z.output<typeof SolanaAccountState>;

/** Asks what the chain says; undefined where no node of the chain is configured. Rejects if none answers. */
export type FetchSolanaAccountState = (
  request: SolanaAccountStateRequest,
) => Promise<SolanaAccountState | undefined>;
