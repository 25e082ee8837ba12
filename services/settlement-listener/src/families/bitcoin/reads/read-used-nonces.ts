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
 * So many blocks are looked through at once for who spent an output, the newest first; at each further
 * turn those that came since, and as many older ones.
 */
const blocksPerSearch = 20;
/** And so many at all: two weeks. */
const searchedBlocksMax = 2_016;
const sendersMax = 1_000;
/** What a block spends is kept of so many. */
const cachedBlocksMax = 40;

/** Outputs, and by which transaction each may be spent: undefined where any other one is too much. */
type WatchedOutputs = ReadonlyMap<string, string | undefined>;

type Range = { fromBlock: number; toBlock: number };

/** The final blocks that were looked through for a sender, and which of them spends what it would. */
type SearchedRange = { from: number; to: number; spentInBlock: number | undefined };

/**
 * Outputs stand for nonces, as each is spent once. A sender has used its nonce 0 once a block up to the
 * given one spends any of them, or spends what an ancestor would by another transaction. Nodes tell who
 * spent an output in no other way than by their blocks: these are read only while such an output is not
 * there.
 */
export const createReadUsedNonces = ({
  failover,
}: Pick<ReaderContext, "failover">): ChainReader["readUsedNonces"] => {
  const findSpendingBlock = createFindSpendingBlock();
  const searchedBySender = new Map<string, SearchedRange>();

  /** Where final blocks spend it, as far as they have been looked through by now. */
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
      // It is looked up once more, as an operator may have had the watch begin anew.
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
      // An output that is in no block yet is not spent in one.
      if (!(await isAnyMined(provider, spentOutpoints))) return 0;
      const [height] = await provider.request([heightRequest]);
      // Of a head beyond that it makes no difference: what is spent there is not final.
      const toBlock = Math.min(height, blockNumber + searchedBlocksMax);
      const unfinalizedRange = { fromBlock: blockNumber + 1, toBlock };
      // It is known who spent it, and that it is not final: no older block has to be looked through.
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

/** Finds the newest block of a range that spends what is wanted by another transaction. */
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

/** What ancestors spend that stand in no block: those that do can no longer keep anything from being. */
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
 * Reads what a block spends, and keeps that of the last ones. Who asks while another waits for the answer
 * waits for the same one.
 */
const createReadSpentOutputs = (): typeof fetchSpentOutputs => {
  const spentByBlock = new Map<string, ReturnType<typeof fetchSpentOutputs>>();
  return (provider, hash) => {
    const fetching = spentByBlock.get(hash) ?? fetchSpentOutputs(provider, hash);
    spentByBlock.delete(hash);
    spentByBlock.set(hash, fetching);
    for (const oldest of [...spentByBlock.keys()].slice(0, -cachedBlocksMax))
      spentByBlock.delete(oldest);
    // What failed is asked again by whoever comes next.
    fetching.catch(() => {
      if (spentByBlock.get(hash) === fetching) spentByBlock.delete(hash);
    });
    return fetching;
  };
};

/** The outputs that a block spends, each with the transaction that does. */
const fetchSpentOutputs = async (
  provider: Provider,
  hash: string,
): Promise<ReadonlyMap<string, string>> => {
  const [{ transactions }] = await provider.request([blockRequest(hash)]);
  return new Map(
    transactions.flatMap(({ inputs, txid }) => inputs.map((input) => [input, txid] as const)),
  );
};
