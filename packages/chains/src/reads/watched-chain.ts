import type {
  Catalogue,
  CatalogueChain,
  FetchSolanaAccountState,
  FetchUsedAddresses,
} from "@payment-links/contracts";
import type { Clock, Log } from "@payment-links/runtime";
import type { RpcMetrics } from "../rpc/rpc-metrics.ts";
import type { ChainReaders, VerifiedTransfer } from "./chain-reader.ts";
import type { ChainOverride, ChainSettings } from "./chain-settings.ts";

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

/**
 * The addresses of owners on one chain, in the chain family's format. No address is ever removed.
 */
export type Owners = {
  /**
   * Returns all known addresses. Every call returns the same array, to which new addresses are
   * appended.
   */
  readAll: () => Promise<readonly string[]>;
  /**
   * Returns all known addresses, and whether a payment has ever settled at each, in the order in
   * which to query them. The first address of each account comes first, then recent links before
   * old ones. Only Solana stores the data for this order.
   */
  readByLatestLink: () => Promise<readonly { address: string; isProven: boolean }[]>;
};

/** For chains that do not detect deposits. */
export const noOwners: Owners = { readAll: async () => [], readByLatestLink: async () => [] };

/** The dependencies of a chain's readers. */
type ReadContext = {
  /** The URLs of the chain's providers, the preferred one first. They are secrets. */
  urls: readonly string[];
  clock: Clock;
  log: Log;
  metrics: RpcMetrics;
  /**
   * The addresses that links of this chain are paid at. A transfer to one of them without a
   * reference is a deposit.
   */
  owners: Owners;
};

/**
 * Creates the readers of a catalogue chain with the operator's settings. Throws `ConfigError` if
 * the chain cannot receive payments. No request is sent until the returned function is called and
 * its readers are used.
 */
export type CreateReaders = (
  catalogue: Catalogue,
  chain: CatalogueChain,
  override: ChainOverride,
) => (context: ReadContext) => WatchedChain;
