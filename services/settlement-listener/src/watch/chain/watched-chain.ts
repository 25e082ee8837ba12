import type { FetchSolanaAccountState, FetchUsedAddresses } from "@payment-links/contracts";
import type { ChainReaders, VerifiedTransfer } from "../chain-reader.ts";
import type { ChainSettings } from "./chain-settings.ts";

/** A chain that is watched, as its family reads it. */
export type WatchedChain = ChainReaders & {
  id: string;
  settings: ChainSettings;
  /** How many blocks more than `finality` says a payment needs until it settles; none if not given. */
  getExtraConfirmations?: (
    transfer: Pick<VerifiedTransfer, "amount"> & { sender: string },
  ) => number;
  /**
   * Compares one provider with the catalogue (rule CHAIN-9). Returns the difference in words for an
   * operator, or undefined. Throws `ChainUnreachableError` if the provider does not answer.
   */
  findFault: (providerId: string) => Promise<string | undefined>;
  /** What a payer's transaction is made of, on Solana alone. */
  fetchSolanaAccountState?: FetchSolanaAccountState;
  /** Which addresses were used, on Bitcoin alone. */
  fetchUsedAddresses?: FetchUsedAddresses;
};
