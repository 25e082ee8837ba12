import type { Hex } from "viem";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import { type RpcRequest, orFault } from "../../rpc/json-rpc.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { ChainReader } from "../../reads/chain-reader.ts";
import { planFreshBlocks } from "./plan-deposit-logs.ts";
import { createReadHeaders } from "./read-headers.ts";
import { createFetchHeads } from "./read-heads.ts";
import { type WatchedLogs, createReadPointers } from "./read-logs.ts";
import { createTransactionReads } from "./read-transactions.ts";
import { type EvmHeader, parseBytes } from "./rpc-results.ts";
import type { PayableChain } from "./verify-receipt.ts";

/**
 * A request to a contract. With `data`, it returns the result of a read-only call, or undefined if
 * the call reverts. Without `data`, it returns the contract's code, which is `0x` if there is none.
 */
export type ContractRequest = { address: Hex; data?: Hex };

/** A `ChainReader` for an EVM chain, with additional reads for the catalogue check. */
export type EvmReader = ChainReader<EvmHeader> & {
  /**
   * Returns the results in the order of the requests. One provider answers all of them at the
   * latest block.
   */
  queryContracts(requests: readonly ContractRequest[]): Promise<readonly (Hex | undefined)[]>;
  /** Returns the decimal id of the chain that the first provider serves. */
  readChain(): Promise<string>;
};

/**
 * Creates the reader of one EVM chain over its providers. Logs only point to transactions, whose
 * receipts are then verified.
 */
export const createEvmReader = (
  context: ReaderContext,
  chain: PayableChain,
  watchedLogs: WatchedLogs,
): EvmReader => {
  const { failover } = context;
  const fetchHeads = createFetchHeads(context.clock);
  return {
    readHeads: () => failover.readHeads(fetchHeads),
    readHeaders: createReadHeaders(context),
    readPointers: createReadPointers(context, watchedLogs),
    freshBlocksMax: () => planFreshBlocks(watchedLogs.deposits?.payees.count() ?? 0),
    ...createTransactionReads(context, chain, watchedLogs),
    queryContracts: (requests) =>
      failover.run("contracts", async (provider) =>
        (await provider.request(requests.map(contractRequest), { inParts: true })).map(toResult),
      ),
    readChain: () => failover.readChain(),
  };
};

const contractRequest = ({ address, data }: ContractRequest): RpcRequest<Hex | RpcFault> =>
  orFault(
    data === undefined
      ? { method: "eth_getCode", params: [address, "latest"], parseResult: parseBytes }
      : { method: "eth_call", params: [{ to: address, data }, "latest"], parseResult: parseBytes },
  );

const toResult = (result: Hex | RpcFault): Hex | undefined => {
  if (!(result instanceof RpcFault)) return result;
  if (result.kind === "reverted") return undefined;
  throw result;
};
