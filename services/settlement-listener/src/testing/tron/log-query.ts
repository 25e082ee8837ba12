import { type Rpc, readBlockNumber, readHead, toHex } from "./block-selectors.ts";
import { invalidParams } from "./tron-faults.ts";

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
 * What the node behind is asked for where java-tron is asked for logs; undefined if no block that is
 * asked for is there yet, which is no fault.
 */
export const readLogQuery = async (
  node: { ask: Rpc; finalizedLag: number; blockRangeMax: number },
  filter: unknown,
): Promise<unknown> => {
  const { fromBlock, toBlock, blockHash, address, topics = [] } = (filter ?? {}) as FilterRequest;
  refuseWide({ address, topics });
  const what = { ...(address === undefined ? {} : { address }), topics };
  if (blockHash !== undefined && blockHash !== null) {
    if (isThere(fromBlock) || isThere(toBlock)) {
      throw invalidParams(
        "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
      );
    }
    const block = await node.ask("eth_getBlockByHash", blockHash, false);
    if (block === null) throw invalidParams("invalid blockHash");
    return { ...what, blockHash };
  }
  const head = await readHead(node);
  const last = async (selector: unknown): Promise<number> =>
    !isThere(selector) || selector === "latest"
      ? Number.POSITIVE_INFINITY
      : Number(await readBlockNumber(node, selector));
  const to = await last(toBlock);
  const from = isThere(fromBlock)
    ? Number(await readBlockNumber(node, fromBlock))
    : Math.min(to, head);
  if (from > to) throw invalidParams("please verify: fromBlock <= toBlock");
  if (Math.min(to, head) - from > node.blockRangeMax) {
    throw invalidParams(`exceed max block range: ${node.blockRangeMax}`);
  }
  if (from > head) return undefined;
  return { ...what, fromBlock: toHex(from), toBlock: toHex(Math.min(to, head)) };
};

const isThere = (selector: unknown): boolean =>
  selector !== undefined && selector !== null && selector !== "";

const refuseWide = ({ address, topics }: { address: unknown; topics: readonly unknown[] }) => {
  if (Array.isArray(address) && address.length > addressesMax) {
    throw invalidParams(`exceed max addresses: ${addressesMax}`);
  }
  if (topics.length > topicsMax) throw invalidParams(`topics size should be <= ${topicsMax}`);
  if (topics.some((topic) => Array.isArray(topic) && topic.length > subTopicsMax)) {
    throw invalidParams(`exceed max topics: ${subTopicsMax}`);
  }
};
