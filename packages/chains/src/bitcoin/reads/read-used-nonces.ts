import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { ChainReader } from "../../reads/chain-reader.ts";
import { blockRequest, heightRequest, unspentRequest } from "./rpc-requests.ts";
import { type Ancestor, coinbase, parseSender } from "./verify-transaction.ts";
import { toTxid } from "./fetch-ancestors.ts";
import { fetchHeaders } from "./read-headers.ts";
import { listMined } from "./read-transactions.ts";

/**
 * The number of blocks that one call searches for the transaction that spent an output, newest
 * first. Each later call searches up to this many newer blocks and this many older ones.
 */
const blocksPerSearch = 20;
/** The maximum number of blocks to search in total: two weeks. */
const searchedBlocksMax = 2_016;
const sendersMax = 1_000;
/** The number of blocks whose spent outputs are cached. */
const cachedBlocksMax = 40;

/**
 * The outputs to watch, each with the one transaction that is allowed to spend it. If that is
 * undefined, any spend is a conflict.
 */
type WatchedOutputs = ReadonlyMap<string, string | undefined>;

type Range = { fromBlock: number; toBlock: number };

/**
 * The range of final blocks already searched for a sender, and the block that spends its outputs.
 */
type SearchedRange = { from: number; to: number; spentInBlock: number | undefined };

/**
 * Creates the read of used nonces. Outputs serve as nonces, because each can be spent only once. A
 * sender's nonce 0 is used once a block up to the given number spends any of its inputs, or once
 * another transaction spends an input of an ancestor that is not mined. Only blocks show which
 * transaction spent an output. They are read only if one of these outputs has been spent.
 */
export const createReadUsedNonces = ({
  failover,
}: Pick<ReaderContext, "failover">): ChainReader["readUsedNonces"] => {
  const findSpendingBlock = createFindSpendingBlock();
  const searchedBySender = new Map<string, SearchedRange>();

  /**
   * Returns the final block that spends a watched output, or undefined if none of the blocks
   * searched so far does.
   */
  const findFinalSpendingBlock = async (
    provider: Provider,
    {
      blockNumber,
      sender,
      watchedOutputs,
    }: { blockNumber: number; sender: string; watchedOutputs: WatchedOutputs },
  ): Promise<number | undefined> => {
    const previousSearch = searchedBySender.get(sender);
    const spentInBlock = previousSearch?.spentInBlock;
    if (spentInBlock !== undefined && spentInBlock <= blockNumber) {
      // Checks the block again, because a deep reorg may have replaced it before an operator
      // resumed the watch.
      const sameBlock = { fromBlock: spentInBlock, toBlock: spentInBlock };
      if ((await findSpendingBlock(provider, sameBlock, watchedOutputs)) !== undefined)
        return spentInBlock;
    }
    const canContinue =
      previousSearch !== undefined &&
      spentInBlock === undefined &&
      previousSearch.to <= blockNumber;
    const { from, to } = canContinue ? previousSearch : { from: blockNumber + 1, to: blockNumber };
    const newerRange = { fromBlock: to + 1, toBlock: Math.min(blockNumber, to + blocksPerSearch) };
    const lowestBlock = Math.max(0, blockNumber - searchedBlocksMax, from - blocksPerSearch);
    const olderRange = { fromBlock: lowestBlock, toBlock: from - 1 };
    const spendingBlock =
      (await findSpendingBlock(provider, newerRange, watchedOutputs)) ??
      (await findSpendingBlock(provider, olderRange, watchedOutputs));
    for (const oldest of [...searchedBySender.keys()].slice(0, -sendersMax))
      searchedBySender.delete(oldest);
    const searched = {
      from: Math.min(lowestBlock, from),
      to: newerRange.toBlock,
      spentInBlock: spendingBlock,
    };
    searchedBySender.set(sender, searched);
    return spendingBlock;
  };

  return async (sender, blockNumber) => {
    // A coinbase is only valid at one height.
    if (sender === coinbase) return blockNumber + 1;
    const { ancestors, outpoints: ownOutpoints } = parseSender(sender);
    return failover.run("spent outputs", async (provider) => {
      const watchedOutputs: WatchedOutputs = new Map([
        ...(await listPendingInputs(provider, ancestors)),
        ...ownOutpoints.map((outpoint) => [outpoint, undefined] as const),
      ]);
      const outpoints = [...watchedOutputs.keys()];
      const areUnspent = await provider.request(outpoints.map(unspentRequest), {
        inParts: true,
      });
      const spentOutpoints = outpoints.filter((_, index) => areUnspent[index] !== true);
      // An output cannot be spent in a block before the transaction that creates it is mined.
      if (!(await isAnyMined(provider, spentOutpoints))) return 0;
      const [height] = await provider.request([heightRequest]);
      // There is no need to search blocks above this limit, because spends there are not final.
      const toBlock = Math.min(height, blockNumber + searchedBlocksMax);
      const unfinalizedRange = { fromBlock: blockNumber + 1, toBlock };
      // The output is spent in a block that is not final yet, so there is no need to search older
      // blocks.
      if ((await findSpendingBlock(provider, unfinalizedRange, watchedOutputs)) !== undefined)
        return 0;
      const spendingBlock = await findFinalSpendingBlock(provider, {
        blockNumber,
        sender,
        watchedOutputs,
      });
      return spendingBlock === undefined ? 0 : 1;
    });
  };
};

/**
 * Creates a function that returns the newest block of a range in which a watched output is spent by
 * a transaction other than the allowed one.
 */
const createFindSpendingBlock = () => {
  const readSpentOutputs = createReadSpentOutputs();
  return async (
    provider: Provider,
    range: Range,
    watchedOutputs: WatchedOutputs,
  ): Promise<number | undefined> => {
    if (range.toBlock < range.fromBlock) return undefined;
    const headers = await fetchHeaders(provider, range);
    if (headers.length < range.toBlock - range.fromBlock + 1) {
      throw new RpcFault("behind", "the node has not reached this block");
    }
    for (const { hash, number } of headers.toReversed()) {
      const spenderByOutpoint = await readSpentOutputs(provider, hash);
      const isSpentByOther = [...watchedOutputs].some(([outpoint, allowedSpender]) => {
        const spender = spenderByOutpoint.get(outpoint);
        return spender !== undefined && spender !== allowedSpender;
      });
      if (isSpentByOther) return number;
    }
    return undefined;
  };
};

/**
 * Returns the inputs of ancestors that are not mined, each with the ancestor's id. An ancestor that
 * is already mined can no longer prevent the transaction from being mined.
 */
const listPendingInputs = async (
  provider: Provider,
  ancestors: readonly Ancestor[],
): Promise<readonly (readonly [string, string])[]> => {
  const minedTxids = await listMined(
    provider,
    ancestors.map(({ txid }) => txid),
  );
  return ancestors
    .filter(({ txid }) => !minedTxids.has(txid))
    .flatMap(({ inputs, txid }) => inputs.map((input) => [input, txid] as const));
};

const isAnyMined = async (provider: Provider, outpoints: readonly string[]): Promise<boolean> =>
  (await listMined(provider, outpoints.map(toTxid))).size > 0;

/**
 * Creates a cached read of the outputs that a block spends. Concurrent reads of the same block
 * share one request.
 */
const createReadSpentOutputs = (): typeof fetchSpentOutputs => {
  const spentByBlock = new Map<string, ReturnType<typeof fetchSpentOutputs>>();
  return (provider, hash) => {
    const fetching = spentByBlock.get(hash) ?? fetchSpentOutputs(provider, hash);
    spentByBlock.delete(hash);
    spentByBlock.set(hash, fetching);
    for (const oldest of [...spentByBlock.keys()].slice(0, -cachedBlocksMax))
      spentByBlock.delete(oldest);
    // Removes a failed request from the cache, so the next read sends it again.
    fetching.catch(() => {
      if (spentByBlock.get(hash) === fetching) spentByBlock.delete(hash);
    });
    return fetching;
  };
};

/** Returns the outputs that a block spends, each with the id of the spending transaction. */
const fetchSpentOutputs = async (
  provider: Provider,
  hash: string,
): Promise<ReadonlyMap<string, string>> => {
  const [{ transactions }] = await provider.request([blockRequest(hash)]);
  return new Map(
    transactions.flatMap(({ inputs, txid }) => inputs.map((input) => [input, txid] as const)),
  );
};
