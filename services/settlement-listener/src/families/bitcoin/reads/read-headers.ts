import { chunk } from "../../../rpc/chunk.ts";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { BlockHeader, ChainReader } from "../../../watch/chain-reader.ts";
import { hashQuestion, headerQuestion } from "../node-answers.ts";

type HeadersOptions = Pick<ReaderGround, "chainId" | "turn" | "metrics" | "memory">;
type Range = { fromBlock: number; toBlock: number };

/**
 * Reads the headers of a range. A node that has not come so far has fewer, which counts only while
 * nobody has reported a further head.
 */
export const createReadHeaders =
  ({ chainId, memory, metrics, turn }: HeadersOptions): ChainReader["readHeaders"] =>
  async (range) => {
    if (range.toBlock < range.fromBlock) return [];
    return turn.ask("headers", async (provider) => {
      const headers = await askHeaders(provider, range);
      const isShort = headers.length < range.toBlock - range.fromBlock + 1;
      if (isShort && range.toBlock <= memory.latest) {
        metrics.disagreed(chainId, "short_headers");
        throw new RpcFault("behind", "fewer headers than the head says");
      }
      return headers;
    });
  };

/** The headers of a range, each the parent of the next; fewer where the node's chain ends before. */
export const askHeaders = async (
  provider: Provider,
  { fromBlock, toBlock }: Range,
): Promise<readonly BlockHeader[]> => {
  const numbers = Array.from({ length: toBlock - fromBlock + 1 }, (_, index) => fromBlock + index);
  const hashes = await askHashes(provider, numbers);
  const headers = await provider.askMany(hashes.map(headerQuestion));
  const isOneChain = headers.every(
    ({ parentHash }, index) => index === 0 || parentHash === headers[index - 1]?.hash,
  );
  if (!isOneChain) throw new RpcFault("behind", "the chain moved while it was read");
  return headers.map((header, index) => ({ ...header, number: fromBlock + index }));
};

/** A node that only says that it has come far is not asked for all of it. */
const hashesAtOnceMax = 100;

const askHashes = async (
  provider: Provider,
  numbers: readonly number[],
): Promise<readonly string[]> => {
  const hashes: string[] = [];
  for (const some of chunk(numbers, hashesAtOnceMax)) {
    for (const answer of await provider.askEach(some.map(hashQuestion))) {
      if ("value" in answer) hashes.push(answer.value);
      else if (answer.fault.kind === "behind") return hashes;
      else throw answer.fault;
    }
  }
  return hashes;
};
