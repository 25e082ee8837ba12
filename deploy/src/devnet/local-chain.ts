import type { CatalogueData } from "@payment-links/contracts";
import type { Log } from "@payment-links/runtime";

/** A contract call of a payer. The address and the data are in hex. */
export type ContractCall = { to: string; value: bigint; data: string };

/** A payment on a local chain. The formats of its values depend on the chain family. */
export type LocalPayment = {
  /** The owner's address or, on Bitcoin, the link's address. */
  destination: string;
  tokenAddress: string;
  amountBaseUnits: bigint;
  /** On Solana, the key that identifies the link. */
  reference?: string | undefined;
  /** On EVM and Tron, the calls of the payer's wallet, in order. */
  calls?: readonly ContractCall[];
};

/**
 * A development chain that runs in this process or in a child process, and stops with this process.
 */
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

/**
 * The options for the start of a local chain: a port (by default, a free one) and the state file.
 */
export type LocalChainOptions = { port?: number; stateFile?: string; log: Log };

/** A local chain that can be started. */
export type KnownLocalChain = {
  /** The catalogue data of the chain and its tokens. */
  catalogueData: CatalogueData;
  /** The name of the state file in the data folder. */
  stateFile: string;
  /** Starts the chain; throws if its programs are not installed. */
  start(options: LocalChainOptions): Promise<LocalChain>;
};
