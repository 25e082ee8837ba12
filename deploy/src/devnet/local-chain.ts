import type { CatalogueData } from "@payment-links/contracts";
import type { Log } from "@payment-links/runtime";

/** One call of a payer's to a contract; addresses and data in hex. */
export type ContractCall = { to: string; value: bigint; data: string };

/** What is paid on a local chain, each in the form of the chain's family. */
export type LocalPayment = {
  /** The owner's address, or on Bitcoin the link's. */
  destination: string;
  tokenAddress: string;
  amountBaseUnits: bigint;
  /** On Solana the key that names the link. */
  reference?: string | undefined;
  /** On EVM and Tron what a payer's wallet sends, in this order. */
  calls?: readonly ContractCall[];
};

/** A chain for development that runs in this process or beside it, and ends with it. */
export type LocalChain = {
  /** Its id in the catalogue. */
  chainId: string;
  /** Its RPC address on loopback, as RPC_URLS names it. */
  url: string;
  /**
   * Pays as a payer would, from an account that holds plenty, and answers the transaction. A block has
   * it within a second, and it becomes final by itself in seconds.
   */
  pay(payment: LocalPayment): Promise<string>;
  /** Ends it within a bound, its state kept; more calls do nothing. */
  close(): Promise<void>;
};

/** How a local chain is opened: at a port or a free one, with the file that it is kept in. */
export type LocalChainOptions = { port?: number; stateFile?: string; log: Log };

/** A local chain that may be opened. */
export type KnownLocalChain = {
  /** The chain and what is paid on it, as the catalogue has them. */
  catalogueData: CatalogueData;
  /** Where its state is kept in the data folder. */
  stateFile: string;
  /** Opens it; throws where its programs are not installed. */
  start(options: LocalChainOptions): Promise<LocalChain>;
};
