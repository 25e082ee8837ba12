import { type RpcRequest, orFault } from "../../rpc/json-rpc.ts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { isAbsentFromBlock, readAbsent } from "../../rpc/read-absent.ts";
import { RpcFault, isItemFault } from "../../rpc/rpc-fault.ts";
import type {
  BlockRange,
  ChainReader,
  Sender,
  SeenTransaction,
  TransactionReceipt,
} from "../../reads/chain-reader.ts";
import { usesDurableNonce } from "./durable-nonce.ts";
import {
  type SolanaBlock,
  type parseBlockSignatures,
  parseCount,
  parseTransaction,
} from "./rpc-results.ts";
import type { SolanaChain } from "./solana-chain.ts";
import { type IsOwner, type SolanaTransaction, verifyTransaction } from "./verify-transaction.ts";
import {
  fetchBlockUpTo,
  fetchBlocks,
  commitment,
  createReachedSlotRequest,
  createBlockSignaturesRequest,
  createSlotsRequest,
  transactionVersionMax,
} from "./fetch-blocks.ts";

type TransactionReads = Pick<
  ChainReader,
  "readAbsent" | "readReceipts" | "readSenders" | "readUsedNonces"
>;
type LandedTransaction = { parsedTransaction: SolanaTransaction; block: SolanaBlock };

/** A transaction can only land while its blockhash is among the last 150 blocks. */
const blockhashLifetimeBlocks = 150;

/** Creates the reads for receipts, senders and nonces. */
export const createTransactionReads = (
  { failover }: ReaderContext,
  { tokens }: Pick<SolanaChain, "tokens">,
  readOwners: () => Promise<IsOwner>,
): TransactionReads => {
  const readTransactions = (description: string, signatures: readonly string[]) =>
    failover.readKnown(description, { keys: signatures, fetchItems: fetchTransactions });
  return {
    readReceipts: async (signatures) => {
      // The owners are read again for each call, because another process may have received new
      // ones.
      const [transactions, isOwner] = await Promise.all([
        readTransactions("transactions", signatures),
        readOwners(),
      ]);
      return new Map(
        [...transactions].map(([signature, landedTransaction]): [string, TransactionReceipt] => [
          signature,
          toReceipt(
            landedTransaction,
            verifyTransaction(landedTransaction.parsedTransaction, tokens, isOwner),
          ),
        ]),
      );
    },
    readAbsent: (seenTransactions, range) =>
      readAbsent(failover, {
        seenTransactions,
        findProofs: (provider) => findProofs(provider, range),
        createTransactionRequest,
        createBlockRequests: (slot) => [
          createBlockSignaturesRequest(slot),
          createSlotsRequest(slot, slot),
        ],
        isAbsent: isAbsentFromSlot,
      }),
    readSenders: async (signatures) => {
      const transactions = await readTransactions("senders", signatures);
      return new Map(
        [...transactions].flatMap(([signature, { block, parsedTransaction }]): [string, Sender][] =>
          // A transaction with a durable nonce never expires, so no block height proves that it was
          // dropped.
          usesDurableNonce(parsedTransaction)
            ? []
            : [
                [
                  signature,
                  {
                    address: getFeePayer(parsedTransaction),
                    nonce: block.height + blockhashLifetimeBlocks,
                  },
                ],
              ],
        ),
      );
    },
    // Block heights serve as nonces. A transaction can no longer land once the height exceeds its
    // nonce.
    readUsedNonces: (_address, slot) =>
      failover.run(
        "a block's height",
        async (provider) => (await fetchBlockUpTo(provider, slot)).height,
      ),
  };
};

const toReceipt = (
  { block, parsedTransaction }: LandedTransaction,
  transfers: TransactionReceipt["transfers"],
): TransactionReceipt => {
  const { signature, slot, timestampSeconds, ...evidence } = parsedTransaction;
  return {
    transactionHash: signature,
    blockNumber: slot,
    blockHash: block.hash,
    timestampSeconds,
    sender: getFeePayer(parsedTransaction),
    transfers,
    // Includes the transaction's keys, because deposits are derived from them and are not compared
    // in any other way.
    evidence,
  };
};

const getFeePayer = ({ keys }: SolanaTransaction): string => keys[0];

const fetchTransactions = async (
  provider: Provider,
  signatures: readonly string[],
): Promise<ReadonlyMap<string, LandedTransaction | RpcFault>> => {
  const requests = signatures.map((signature) => orFault(createTransactionRequest(signature)));
  const results = await provider.request(requests, { inParts: true });
  const faults = new Map<string, RpcFault>();
  const knownTransactions = results.flatMap((result, index) => {
    if (result === null) return [];
    if (result instanceof RpcFault && !isItemFault(result)) throw result;
    const signature = signatures[index] ?? "";
    if (!(result instanceof RpcFault) && result.signature === signature) return [result];
    const isFault = result instanceof RpcFault;
    const otherTransaction = "the node returned another transaction";
    faults.set(signature, isFault ? result : new RpcFault("invalid", otherTransaction));
    return [];
  });
  const blocks = await fetchBlocks(
    provider,
    knownTransactions.map(({ slot }) => slot),
  );
  const landedTransactions = knownTransactions.flatMap(
    (transaction): [string, LandedTransaction][] => {
      const block = blocks.get(transaction.slot);
      return block === undefined
        ? []
        : [[transaction.signature, { block, parsedTransaction: transaction }]];
    },
  );
  return new Map<string, LandedTransaction | RpcFault>([...faults, ...landedTransactions]);
};

const createTransactionRequest = (signature: string): RpcRequest<SolanaTransaction | null> => ({
  method: "getTransaction",
  params: [
    signature,
    { commitment, encoding: "json", maxSupportedTransactionVersion: transactionVersionMax },
  ],
  parseResult: parseTransaction,
});

/**
 * The maximum numbers of slots and of blocks to search. A search is needed because blocks on a
 * quiet chain can be empty.
 */
const scannedSlotsMax = 64;
const scannedBlocksMax = 8;

/**
 * Returns requests that prove that a node has all transactions of a range. The node must still have
 * the oldest slot, must have reached the newest slot, and must have indexed the last transaction up
 * to that slot. `minContextSlot` does not prove the last point, because nodes fill that index
 * later.
 */
const findProofs = async (
  provider: Provider,
  { fromBlock, toBlock }: BlockRange,
): Promise<readonly RpcRequest<boolean>[]> => {
  const proofs: RpcRequest<boolean>[] = [
    {
      method: "getFirstAvailableBlock",
      params: [],
      parseResult: (result) => parseCount(result) <= fromBlock,
    },
    {
      ...createReachedSlotRequest(toBlock),
      parseResult: (result) => parseCount(result) >= toBlock,
    },
  ];
  const oldestSlot = Math.max(fromBlock, toBlock - scannedSlotsMax);
  const [slots] = await provider.request([createSlotsRequest(oldestSlot, toBlock)]);
  for (const slot of slots.slice(-scannedBlocksMax).toReversed()) {
    const [{ signatures }] = await provider.request([createBlockSignaturesRequest(slot)]);
    const signature = signatures.at(-1);
    if (signature === undefined) continue;
    const { parseResult, ...call } = createTransactionRequest(signature);
    return [...proofs, { ...call, parseResult: (result) => parseResult(result) !== null }];
  }
  return proofs;
};

/**
 * Returns whether the node proves that a transaction is no longer in the slot in which it was seen:
 * the slot has a different block, no block, or the same block without the transaction.
 */
const isAbsentFromSlot = (
  seenTransaction: SeenTransaction,
  [block, slots]: readonly unknown[],
): boolean => {
  if (block !== undefined && !(block instanceof RpcFault)) {
    // The request's own parser created this value, so the cast is safe.
    const { hash, signatures } = block as ReturnType<typeof parseBlockSignatures>;
    return isAbsentFromBlock(seenTransaction, { hash, transactionHashes: signatures });
  }
  // The slot was skipped.
  return Array.isArray(slots) && slots.length === 0;
};
