import type { ReaderContext } from "../../../rpc/create-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { ChainReader } from "../../../watch/chain-reader.ts";
import { blockRequest, heightRequest, unspentRequest } from "../rpc-requests.ts";
import { type Ancestor, coinbase, parseSender } from "../verify-transaction.ts";
import { toTxid } from "./fetch-ancestors.ts";
import { fetchHeaders } from "./read-headers.ts";
import { listMined } from "./read-transactions.ts";

/**
 * The number of blocks searched per call for the spender of an output, newest first. Each further
 * call searches up to this many newer blocks and this many older ones.
 */
const blocksPerSearch = 20;
/** The maximum number of blocks searched in total: two weeks. */
const searchedBlocksMax = 2_016;
const sendersMax = 1_000;
/** The number of blocks whose spent outputs are cached. */
const cachedBlocksMax = 40;

/**
 * Outputs, each with the transaction that may spend it. Undefined means that any spend is a
 * conflict.
 */
type WatchedOutputs = ReadonlyMap<string, string | undefined>;

type Range = { fromBlock: number; toBlock: number };

/** The final blocks already searched for a sender, and the one that spends its outputs. */
type SearchedRange = { from: number; to: number; spentInBlock: number | undefined };

/**
 * Treats outputs as nonces, because each is spent only once. A sender has used its nonce 0 once a
 * block up to the given one spends any of its inputs. The same applies if another transaction
 * spends an input of an unmined ancestor. Only blocks show which transaction spent an output. They
 * are read only while one of these outputs is no longer unspent.
 */
export const createReadUsedNonces = ({
  failover,
}: Pick<ReaderContext, "failover">): ChainReader["readUsedNonces"] => {
  const findSpendingBlock = createFindSpendingBlock();
  const searchedBySender = new Map<string, SearchedRange>();

  /** Returns the final block that spends a watched output, as far as blocks have been searched. */
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
      // The block is checked again, because an operator may have resumed the watch after a deep
      // reorg.
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
    // A coinbase is valid at one height only.
    if (sender === coinbase) return blockNumber + 1;
    const { ancestors, outpoints: ownOutpoints } = parseSender(sender);
    return failover.run("what was spent", async (provider) => {
      const watchedOutputs: WatchedOutputs = new Map([
        ...(await listPendingInputs(provider, ancestors)),
        ...ownOutpoints.map((outpoint) => [outpoint, undefined] as const),
      ]);
      const outpoints = [...watchedOutputs.keys()];
      const areUnspent = await provider.requestMany(outpoints.map(unspentRequest));
      const spentOutpoints = outpoints.filter((_, index) => areUnspent[index] !== true);
      // An output that is not mined yet cannot be spent in a block.
      if (!(await isAnyMined(provider, spentOutpoints))) return 0;
      const [height] = await provider.request([heightRequest]);
      // Blocks above this limit make no difference, because spends there are not final.
      const toBlock = Math.min(height, blockNumber + searchedBlocksMax);
      const unfinalizedRange = { fromBlock: blockNumber + 1, toBlock };
      // The spending block is known and not final, so older blocks need no search.
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
 * Creates a function that finds the newest block of a range that spends a watched output by another
 * transaction than the allowed one.
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
      throw new RpcFault("behind", "a node that has not come so far");
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
 * Returns the inputs of unmined ancestors, each with its ancestor's id. Mined ancestors no longer
 * stop the transaction from being mined.
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
 * Creates a cached read of the outputs that a block spends. Concurrent reads of one block share a
 * request.
 */
const createReadSpentOutputs = (): typeof fetchSpentOutputs => {
  const spentByBlock = new Map<string, ReturnType<typeof fetchSpentOutputs>>();
  return (provider, hash) => {
    const fetching = spentByBlock.get(hash) ?? fetchSpentOutputs(provider, hash);
    spentByBlock.delete(hash);
    spentByBlock.set(hash, fetching);
    for (const oldest of [...spentByBlock.keys()].slice(0, -cachedBlocksMax))
      spentByBlock.delete(oldest);
    // The next read repeats a failed request.
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
