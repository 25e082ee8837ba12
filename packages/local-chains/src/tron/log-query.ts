import { type CallRpc, resolveBlockNumber, readHead, toHex } from "./block-selectors.ts";
import { invalidParamsError } from "./tron-errors.ts";

const addressesMax = 1_000;
const topicsMax = 4;
const subTopicsMax = 1_000;

type FilterRequest = {
  fromBlock?: unknown;
  toBlock?: unknown;
  blockHash?: unknown;
  address?: unknown;
  topics?: readonly unknown[];
};

/**
 * Converts a log filter of java-tron to one for the EVM node. Returns undefined if the range starts
 * above the head, because that is not an error.
 */
export const resolveLogQuery = async (
  node: { callRpc: CallRpc; finalizedLag: number; blockRangeMax: number },
  filter: unknown,
): Promise<unknown> => {
  const { fromBlock, toBlock, blockHash, address, topics = [] } = (filter ?? {}) as FilterRequest;
  rejectLargeFilter({ address, topics });
  const criteria = { ...(address === undefined ? {} : { address }), topics };
  if (blockHash !== undefined && blockHash !== null) {
    if (isPresent(fromBlock) || isPresent(toBlock)) {
      throw invalidParamsError(
        "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
      );
    }
    const block = await node.callRpc("eth_getBlockByHash", blockHash, false);
    if (block === null) throw invalidParamsError("invalid blockHash");
    return { ...criteria, blockHash };
  }
  const head = await readHead(node);
  const resolveEnd = async (selector: unknown): Promise<number> =>
    !isPresent(selector) || selector === "latest"
      ? Number.POSITIVE_INFINITY
      : Number(await resolveBlockNumber(node, selector));
  const to = await resolveEnd(toBlock);
  const from = isPresent(fromBlock)
    ? Number(await resolveBlockNumber(node, fromBlock))
    : Math.min(to, head);
  if (from > to) throw invalidParamsError("please verify: fromBlock <= toBlock");
  if (Math.min(to, head) - from > node.blockRangeMax) {
    throw invalidParamsError(`exceed max block range: ${node.blockRangeMax}`);
  }
  if (from > head) return undefined;
  return { ...criteria, fromBlock: toHex(from), toBlock: toHex(Math.min(to, head)) };
};

const isPresent = (selector: unknown): boolean =>
  selector !== undefined && selector !== null && selector !== "";

const rejectLargeFilter = ({
  address,
  topics,
}: {
  address: unknown;
  topics: readonly unknown[];
}) => {
  if (Array.isArray(address) && address.length > addressesMax) {
    throw invalidParamsError(`exceed max addresses: ${addressesMax}`);
  }
  if (topics.length > topicsMax) throw invalidParamsError(`topics size should be <= ${topicsMax}`);
  if (topics.some((topic) => Array.isArray(topic) && topic.length > subTopicsMax)) {
    throw invalidParamsError(`exceed max topics: ${subTopicsMax}`);
  }
};
