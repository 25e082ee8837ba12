import type { Hex } from "viem";
import type { ReaderGround } from "../../rpc/open-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { readChain } from "../../rpc/read-chain.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { EvmReads } from "./evm-reads.ts";
import { readBytes } from "./node-answers.ts";
import { createReadHeaders } from "./reads/read-headers.ts";
import { createReadHeads } from "./reads/read-heads.ts";
import { type WatchedLogs, createReadLogs } from "./reads/read-logs.ts";
import { createTransactionReads } from "./reads/read-transactions.ts";

/** The reads of one EVM chain over its providers. */
export const createEvmReads = (ground: ReaderGround, watched: WatchedLogs): EvmReads => {
  const options = { ...ground, ...watched };
  const { turn } = options;
  return {
    readHeads: createReadHeads(options),
    readHeaders: createReadHeaders(options),
    readLogs: createReadLogs(options),
    ...createTransactionReads(options),
    readCode: (address) => turn.ask("code", (provider) => askCode(provider, address)),
    call: (to, data) => turn.ask("a call", (provider) => askCall(provider, { to, data })),
    readChain: () => readChain(ground, ground.chainName),
  };
};

const askCode = async (provider: Provider, address: Hex): Promise<Hex> => {
  const question = {
    method: "eth_getCode",
    params: [address, "latest"],
    read: readBytes,
  };
  const [code] = await provider.ask([question]);
  return code;
};

const askCall = async (
  provider: Provider,
  call: { to: Hex; data: Hex },
): Promise<Hex | undefined> => {
  const question = { method: "eth_call", params: [call, "latest"], read: readBytes };
  try {
    const [answer] = await provider.ask([question]);
    return answer;
  } catch (error) {
    if (error instanceof RpcFault && error.kind === "reverted") return undefined;
    throw error;
  }
};
