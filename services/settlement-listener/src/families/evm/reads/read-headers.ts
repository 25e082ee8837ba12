import { numberToHex } from "viem";
import { ChainUnreachableError } from "../../../watch/chain-reader.ts";
import type { EvmHeader, EvmReads } from "../evm-reads.ts";
import type { Turn } from "../../../rpc/ask-in-turn.ts";
import type { Question } from "../../../rpc/json-rpc.ts";
import { readHeader } from "../node-answers.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { RpcMetrics } from "../../../rpc/rpc-metrics.ts";
import type { HeadMemory } from "../../../rpc/open-chain-readers.ts";

type HeadersOptions = { chainId: string; turn: Turn; metrics: RpcMetrics; memory: HeadMemory };

/** One header by its number. */
export const headerQuestion = (blockNumber: number): Question<EvmHeader | null> => ({
  method: "eth_getBlockByNumber",
  params: [numberToHex(blockNumber), false],
  read: readHeader,
});

/**
 * Reads the headers of a range, each the parent of the next. An answer that ends before the range
 * does is accepted only if nobody has reported a further head, or nobody gives a longer answer.
 */
export const createReadHeaders =
  ({ chainId, memory, metrics, turn }: HeadersOptions): EvmReads["readHeaders"] =>
  async ({ fromBlock, toBlock }) => {
    const count = Math.max(0, toBlock - fromBlock + 1);
    const questions = Array.from({ length: count }, (_, index) =>
      headerQuestion(fromBlock + index),
    );
    let longest: readonly EvmHeader[] | undefined;
    try {
      return await turn.ask("headers", async (provider) => {
        const answers = await provider.askMany(questions);
        const headers = cutAtEnd(answers, { fromBlock, readBy: provider.id });
        if (!areChained(headers)) {
          metrics.disagreed(chainId, "unchained_headers");
          throw new RpcFault("invalid", "headers that are no chain");
        }
        if (headers.length < count && toBlock <= memory.latest) {
          metrics.disagreed(chainId, "short_headers");
          if (headers.length >= (longest?.length ?? 0)) longest = headers;
          throw new RpcFault("behind", "a node that has not come so far");
        }
        return headers;
      });
    } catch (error) {
      if (!(error instanceof ChainUnreachableError) || longest === undefined) throw error;
      return longest;
    }
  };

const cutAtEnd = (
  answers: readonly (EvmHeader | null)[],
  { fromBlock, readBy }: { fromBlock: number; readBy: string },
): EvmHeader[] => {
  const headers: EvmHeader[] = [];
  for (const header of answers) {
    if (header === null) break;
    if (header.number !== fromBlock + headers.length) {
      throw new RpcFault("invalid", "a header of another block");
    }
    headers.push({ ...header, readBy });
  }
  return headers;
};

const areChained = (headers: readonly EvmHeader[]): boolean =>
  headers.every((header, index) => {
    const parent = headers[index - 1];
    return parent === undefined || parent.hash === header.parentHash;
  });
