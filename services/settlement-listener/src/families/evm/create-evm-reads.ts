import type { Hex } from "viem";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { RpcResult, RpcRequest } from "../../rpc/json-rpc.ts";
import { readChain } from "../../rpc/read-chain.ts";
import type { ContractRequest, EvmReads } from "./evm-reads.ts";
import { parseBytes } from "./rpc-results.ts";
import { createReadHeaders } from "./reads/read-headers.ts";
import { createReadHeads } from "./reads/read-heads.ts";
import { type WatchedLogs, createReadLogs } from "./reads/read-logs.ts";
import { createTransactionReads } from "./reads/read-transactions.ts";

/** Creates the reads of one EVM chain over its providers. */
export const createEvmReads = (context: ReaderContext, watchedLogs: WatchedLogs): EvmReads => {
  const options = { ...context, ...watchedLogs };
  const { failover } = options;
  return {
    readHeads: createReadHeads(options),
    readHeaders: createReadHeaders(options),
    readLogs: createReadLogs(options),
    ...createTransactionReads(options),
    queryContracts: (requests) =>
      failover.run("contracts", async (provider) =>
        (await provider.requestEachInParts(requests.map(contractRequest))).map(unwrapResult),
      ),
    readChain: () => readChain(context),
  };
};

const contractRequest = ({ address, data }: ContractRequest): RpcRequest<Hex> =>
  data === undefined
    ? { method: "eth_getCode", params: [address, "latest"], parseResult: parseBytes }
    : { method: "eth_call", params: [{ to: address, data }, "latest"], parseResult: parseBytes };

const unwrapResult = (result: RpcResult<Hex>): Hex | undefined => {
  if ("value" in result) return result.value;
  if (result.fault.kind === "reverted") return undefined;
  throw result.fault;
};
