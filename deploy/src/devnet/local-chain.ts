import type { CatalogueData } from "@payment-links/contracts";
import type { Log } from "@payment-links/runtime";

/** One contract call of a payer; address and data are in hex. */
export type ContractCall = { to: string; value: bigint; data: string };

/** A payment on a local chain, with values in the format of the chain's family. */
export type LocalPayment = {
  /** The owner's address; on Bitcoin the link's address. */
  destination: string;
  tokenAddress: string;
  amountBaseUnits: bigint;
  /** On Solana, the key that identifies the link. */
  reference?: string | undefined;
  /** On EVM and Tron, the calls of the payer's wallet, in order. */
  calls?: readonly ContractCall[];
};

/** A development chain that runs in or next to this process, and ends with it. */
export type LocalChain = {
  /** The chain's id in the catalogue. */
  chainId: string;
  /** The chain's RPC URL on loopback, as in RPC_URLS. */
  url: string;
  /**
   * Pays as a payer would, from a funded account, and returns the transaction's hash. A block
   * includes the transaction within a second, and it becomes final within seconds.
   */
  pay(payment: LocalPayment): Promise<string>;
  /** Stops the chain within a time limit and saves its state. Further calls do nothing. */
  close(): Promise<void>;
};

/** How a local chain starts: on the given port or a free one, with its state file. */
export type LocalChainOptions = { port?: number; stateFile?: string; log: Log };

/** A local chain that can be started. */
export type KnownLocalChain = {
  /** The chain and its tokens, as catalogue data. */
  catalogueData: CatalogueData;
  /** The name of the state file in the data folder. */
  stateFile: string;
  /** Starts the chain; throws if its programs are not installed. */
  start(options: LocalChainOptions): Promise<LocalChain>;
};
