import { createBitcoinReaders } from "./bitcoin/reads/create-readers.ts";
import type { ChainType } from "./chain-types.ts";
import { createEvmReaders } from "./evm/reads/create-readers.ts";
import type { CreateReaders } from "./reads/watched-chain.ts";
import { createSolanaReaders } from "./solana/reads/create-readers.ts";
import { createTronReaders } from "./tron/reads/create-readers.ts";

export { type RpcMetrics, createRpcMetrics } from "./rpc/rpc-metrics.ts";

const factories: Readonly<Record<ChainType, CreateReaders>> = {
  EVM: createEvmReaders,
  SVM: createSolanaReaders,
  TVM: createTronReaders,
  BVM: createBitcoinReaders,
};

/** Creates the readers of a catalogue chain. See {@link CreateReaders}. */
export const createReaders: CreateReaders = (catalogue, chain, override) =>
  factories[chain.chainType](catalogue, chain, override);
