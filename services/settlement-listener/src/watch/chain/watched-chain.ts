import type { FetchSolanaAccountState, FetchUsedAddresses } from "@payment-links/contracts";
import type { ChainReaders, VerifiedTransfer } from "../chain-reader.ts";
import type { ChainSettings } from "./chain-settings.ts";

/** A watched chain, as its chain family creates it. */
export type WatchedChain = ChainReaders & {
  id: string;
  settings: ChainSettings;
  /** Returns how many blocks beyond `finality` a payment needs before it settles. Defaults to 0. */
  getExtraConfirmations?: (
    transfer: Pick<VerifiedTransfer, "amount"> & { sender: string },
  ) => number;
  /**
   * Compares one provider with the catalogue (rule CHAIN-9). Returns a description of the
   * difference for operators, or undefined if there is none. Throws `ChainUnreachableError` if the
   * provider does not answer.
   */
  findFault: (providerId: string) => Promise<string | undefined>;
  /** Reads the on-chain account state for building a payer's transaction. Solana only. */
  fetchSolanaAccountState?: FetchSolanaAccountState;
  /** Reads which addresses have been used on chain. Bitcoin only. */
  fetchUsedAddresses?: FetchUsedAddresses;
};
