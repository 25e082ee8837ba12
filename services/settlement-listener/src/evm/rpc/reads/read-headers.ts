import { numberToHex } from "viem";
import { type ChainReader, ChainUnreachableError, type BlockHeader } from "../chain-reader.ts";
import type { Turn } from "../provider/ask-in-turn.ts";
import type { Question } from "../provider/json-rpc.ts";
import { readHeader } from "../provider/node-answers.ts";
import { RpcFault } from "../provider/rpc-fault.ts";
import type { RpcMetrics } from "../rpc-metrics.ts";
import type { HeadMemory } from "./read-heads.ts";

type HeadersOptions = { chainId: string; turn: Turn; metrics: RpcMetrics; memory: HeadMemory };

/** One header by its number. */
export const headerQuestion = (blockNumber: number): Question<BlockHeader | null> => ({
  method: "eth_getBlockByNumber",
  params: [numberToHex(blockNumber), false],
  read: readHeader,
});

/**
 * Reads the headers of a range, each the parent of the next. An answer that ends before the range
 * does is accepted only if nobody has reported a further head, or nobody gives a longer answer.
 */
export const createReadHeaders =
  ({ chainId, memory, metrics, turn }: HeadersOptions): ChainReader["readHeaders"] =>
  async ({ fromBlock, toBlock }) => {
    const count = Math.max(0, toBlock - fromBlock + 1);
    const questions = Array.from({ length: count }, (_, index) =>
      headerQuestion(fromBlock + index),
    );
    let longest: readonly BlockHeader[] | undefined;
    try {
      return await turn.ask("headers", async (provider) => {
        const headers = cutAtEnd(await provider.askMany(questions), fromBlock);
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

const cutAtEnd = (answers: readonly (BlockHeader | null)[], fromBlock: number): BlockHeader[] => {
  const headers: BlockHeader[] = [];
  for (const header of answers) {
    if (header === null) break;
    if (header.number !== fromBlock + headers.length) {
      throw new RpcFault("invalid", "a header of another block");
    }
    headers.push(header);
  }
  return headers;
};

const areChained = (headers: readonly BlockHeader[]): boolean =>
  headers.every((header, index) => {
    const parent = headers[index - 1];
    return parent === undefined || parent.hash === header.parentHash;
  });
