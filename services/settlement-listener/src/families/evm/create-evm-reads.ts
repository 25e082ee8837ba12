import type { Hex } from "viem";
import type { ReaderGround } from "../../rpc/open-chain-readers.ts";
import type { Answer, Question } from "../../rpc/json-rpc.ts";
import { readChain } from "../../rpc/read-chain.ts";
import type { ContractQuestion, EvmReads } from "./evm-reads.ts";
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
    askContracts: (questions) =>
      turn.ask("contracts", async (provider) =>
        (await provider.askEachInParts(questions.map(contractQuestion))).map(valueOf),
      ),
    readChain: () => readChain(ground),
  };
};

const contractQuestion = ({ address, data }: ContractQuestion): Question<Hex> =>
  data === undefined
    ? { method: "eth_getCode", params: [address, "latest"], read: readBytes }
    : { method: "eth_call", params: [{ to: address, data }, "latest"], read: readBytes };

const valueOf = (answer: Answer<Hex>): Hex | undefined => {
  if ("value" in answer) return answer.value;
  if (answer.fault.kind === "reverted") return undefined;
  throw answer.fault;
};
