import { type Hex, numberToHex } from "viem";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import { type RpcRequest, orFault } from "../../rpc/json-rpc.ts";
import type { ResultParser } from "../../rpc/parse-result.ts";
import type { Provider } from "../../rpc/provider.ts";
import type { ProviderFailover } from "../../rpc/provider-failover.ts";
import { isAbsentFromBlock, readAbsent } from "../../rpc/read-absent.ts";
import { RpcFault, isItemFault } from "../../rpc/rpc-fault.ts";
import type {
  BlockRange,
  ChainReader,
  SeenTransaction,
  TransactionReceipt,
} from "../../reads/chain-reader.ts";
import {
  type EvmReceipt,
  type TransactionCall,
  parseTransactionSender,
  parseReceiptLogs,
  parseQuantity,
  parseReceipt,
  parseTransactionCall,
  parseTransactionHashes,
} from "./rpc-results.ts";
import { type PayableChain, mayHaveSuffix, pairReceipt, verifyReceipt } from "./verify-receipt.ts";
import type { WatchedLogs } from "./read-logs.ts";

type TransactionReads = Pick<
  ChainReader,
  "readAbsent" | "readReceipts" | "readSenders" | "readUsedNonces"
>;

/** Creates the reads for receipts, senders and nonces. */
export const createTransactionReads = (
  { failover }: Pick<ReaderContext, "failover">,
  chain: PayableChain,
  { contracts, deposits }: Pick<WatchedLogs, "contracts" | "deposits">,
): TransactionReads => ({
  readReceipts: async (hashes) => {
    const [receipts, isOwner] = await Promise.all([
      readEvmReceipts(failover, contracts, hashes),
      deposits?.payees.readIsOwner(),
    ]);
    const pairedReceipts = [...receipts.values()].map((receipt) => ({
      receipt,
      pairs: pairReceipt(receipt, chain),
    }));
    const suffixCandidates = pairedReceipts.filter(({ pairs, receipt }) =>
      mayHaveSuffix(pairs, receipt.from, chain),
    );
    const calls = await readCalls(
      failover,
      suffixCandidates.map(({ receipt }) => receipt.transactionHash),
    );
    return new Map(
      pairedReceipts.map(({ pairs, receipt }): [string, TransactionReceipt] => {
        const { blockHash, blockNumber, from: sender, transactionHash, ...evidence } = receipt;
        const call = calls.get(transactionHash);
        const transfers = verifyReceipt(pairs, chain, isOwner, call && { ...call, from: sender });
        return [
          transactionHash,
          { transactionHash, blockNumber, blockHash, sender, transfers, evidence },
        ];
      }),
    );
  },
  readAbsent: (seenTransactions, range) =>
    readAbsent(failover, {
      seenTransactions,
      findProofs: (provider) => findProofs(provider, range),
      createTransactionRequest: (hash) => createReceiptRequest(hash, (location) => location),
      createBlockRequests: (number) => [createTransactionHashesRequest(number)],
      isAbsent: isAbsentFromResult,
    }),
  readSenders: (hashes) => readByHash(failover, "transactions", hashes, senderLookup),
  readUsedNonces: (address, blockNumber) =>
    failover.run("used nonces", async (provider) => {
      const params = [address, numberToHex(blockNumber)];
      const request = { method: "eth_getTransactionCount", params, parseResult: parseQuantity };
      const [count] = await provider.request([request]);
      return count;
    }),
});

/**
 * Reads receipts with the logs of some contracts, by transaction hash. Leaves out transactions that
 * are not in a canonical block.
 */
export const readEvmReceipts = (
  failover: ProviderFailover,
  contracts: ReadonlySet<Hex>,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, EvmReceipt>> =>
  readByHash(failover, "receipts", hashes, {
    ...receiptMethod,
    parseResult: parseReceipt(contracts),
  });

/**
 * Reads the calls of transactions by hash. They are only read for transactions that have a receipt,
 * so the transactions must exist.
 */
export const readCalls = (
  failover: ProviderFailover,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, TransactionCall>> =>
  readByHash(failover, "calls", hashes, callLookup);

const readByHash = <T extends WithTransactionHash>(
  failover: ProviderFailover,
  description: string,
  hashes: readonly string[],
  lookup: TransactionLookup<T>,
): Promise<ReadonlyMap<string, T>> =>
  failover.readKnown(description, {
    keys: hashes,
    fetchItems: (provider, keys) => fetchByHash(provider, keys, lookup),
    mustExist: lookup.mustExist,
  });

type WithTransactionHash = { transactionHash: Hex };
/** How to look up a transaction by its hash. */
type TransactionLookup<T extends WithTransactionHash> = {
  method: string;
  parseResult: ResultParser<T | null>;
  mustExist?: boolean | undefined;
};

const transactionByHashMethod = "eth_getTransactionByHash";
const receiptMethod = { method: "eth_getTransactionReceipt" };
const senderLookup = { method: transactionByHashMethod, parseResult: parseTransactionSender };
const callLookup = {
  method: transactionByHashMethod,
  parseResult: parseTransactionCall,
  mustExist: true,
};

/**
 * Requests the location of a transaction. It is null if the node does not know the transaction's
 * receipt. Accepts receipts that `parseReceipt` rejects.
 */
const createReceiptRequest = <T>(
  hash: string,
  parseLocation: (location: { blockHash: Hex; transactionHash: Hex } | null) => T,
): RpcRequest<T> => ({
  ...receiptMethod,
  params: [hash],
  parseResult: (result) => parseLocation(parseReceiptLogs(new Set())(result)),
});

const blocksPerRequest = 100;
/** The maximum number of empty blocks to search. Blocks on a quiet chain can be empty. */
const emptyBlocksMax = 1_000;

/**
 * Returns requests that prove that a node has all receipts of a range. They request the newest
 * block, the receipt of the last transaction at or before the end of the range, and the receipt of
 * the first transaction at or after its start. This is sufficient because a node prunes the oldest
 * receipts first. Returns undefined if the node has not reached the newest block, or if too many
 * blocks are empty.
 */
const findProofs = async (
  provider: Provider,
  { fromBlock, toBlock }: BlockRange,
): Promise<readonly RpcRequest<boolean>[] | undefined> => {
  const [newest] = await provider.request([createTransactionHashesRequest(toBlock)]);
  if (newest === null) return undefined;
  const firstProof = await findReceiptProof(provider, (distance) => fromBlock + distance, "first");
  const lastProof = await findReceiptProof(provider, (distance) => toBlock - distance, "last");
  if (firstProof === undefined || lastProof === undefined) return undefined;
  const { params, method, parseResult } = createTransactionHashesRequest(toBlock);
  const headProof = {
    method,
    params,
    parseResult: (result: unknown) => parseResult(result)?.hash === newest.hash,
  };
  return [headProof, firstProof, lastProof];
};

/**
 * Searches for the nearest block that is not empty. Returns a request for the receipt of its first
 * or last transaction.
 */
const findReceiptProof = async (
  provider: Provider,
  toBlockNumber: (distance: number) => number,
  position: "first" | "last",
): Promise<RpcRequest<boolean> | undefined> => {
  let count = 1;
  for (let distance = 0; distance < emptyBlocksMax; distance += count) {
    if (distance > 0) count = blocksPerRequest;
    const numbers = Array.from({ length: count }, (_, index) => toBlockNumber(distance + index));
    const existingNumbers = numbers.filter((number) => number >= 0);
    if (existingNumbers.length === 0) return undefined;
    for (const block of await provider.request(
      existingNumbers.map(createTransactionHashesRequest),
      { inParts: true },
    )) {
      if (block === null) return undefined;
      const hash = block.transactionHashes.at(position === "first" ? 0 : -1);
      if (hash === undefined) continue;
      return createReceiptRequest(
        hash,
        (location) => location?.transactionHash === hash && location.blockHash === block.hash,
      );
    }
  }
  return undefined;
};

const createTransactionHashesRequest = (number: number) => ({
  method: "eth_getBlockByNumber",
  params: [numberToHex(number), false],
  parseResult: parseTransactionHashes,
});

/**
 * Returns whether the node proves that a transaction is no longer in the block in which it was
 * seen: the node has a different block at that height, or the same block without the transaction.
 */
const isAbsentFromResult = (
  seenTransaction: SeenTransaction,
  [result]: readonly unknown[],
): boolean => {
  if (result === undefined || result instanceof RpcFault) return false;
  // The request's own parser created this value, so the cast is safe.
  const block = result as ReturnType<typeof parseTransactionHashes>;
  return block !== null && isAbsentFromBlock(seenTransaction, block);
};

/**
 * Fetches transactions or receipts by transaction hash. Anyone can produce a very large receipt, so
 * they are requested in parts. An invalid response is a fault of its transaction only.
 */
const fetchByHash = async <T extends WithTransactionHash>(
  provider: Provider,
  hashes: readonly string[],
  { method, parseResult }: Pick<TransactionLookup<T>, "method" | "parseResult">,
): Promise<ReadonlyMap<string, T | RpcFault>> => {
  const results = await provider.request(
    hashes.map((hash) => orFault({ method, params: [hash], parseResult })),
    { inParts: true },
  );
  return new Map(
    results.flatMap((result, index): [string, T | RpcFault][] => {
      if (result === null) return [];
      if (result instanceof RpcFault && !isItemFault(result)) throw result;
      const hash = hashes[index] ?? "";
      if (result instanceof RpcFault || result.transactionHash === hash) return [[hash, result]];
      return [[hash, new RpcFault("invalid", "the node returned another transaction")]];
    }),
  );
};
