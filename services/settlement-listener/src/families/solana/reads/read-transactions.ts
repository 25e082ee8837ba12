import type { Answer, Question } from "../../../rpc/json-rpc.ts";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { isGoneFrom, readAbsent } from "../../../rpc/read-absent.ts";
import { readKnown } from "../../../rpc/read-known.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type {
  BlockRange,
  ChainReader,
  Sender,
  SeenTransaction,
  TransactionReceipt,
} from "../../../watch/chain-reader.ts";
import { isOfDurableNonce } from "../durable-nonce.ts";
import {
  type SolanaBlock,
  type readBlockSignatures,
  readCount,
  readTransaction,
} from "../node-answers.ts";
import type { SolanaChain } from "../solana-chain.ts";
import { type IsOwner, type SolanaTransaction, verifyTransaction } from "../verify-transaction.ts";
import {
  askBlockUpTo,
  askBlocks,
  commitment,
  reachQuestion,
  signaturesQuestion,
  slotsQuestion,
  transactionVersionMax,
} from "./ask-blocks.ts";

type TransactionReads = Pick<
  ChainReader,
  "readAbsent" | "readReceipts" | "readSenders" | "readUsedNonces"
>;
type Found = { landed: SolanaTransaction; block: SolanaBlock };

/** A transaction lands while the block hash that it names is one of the last 150, and never after. */
const livesForBlocks = 150;

/** Reads what became of transactions. */
export const createTransactionReads = (
  ground: Pick<ReaderGround, "chainId" | "metrics" | "turn">,
  { tokens }: Pick<SolanaChain, "tokens">,
  readOwners: () => Promise<IsOwner>,
): TransactionReads => {
  const readAll = (what: string, signatures: readonly string[]) =>
    readKnown(ground, { what, names: signatures, askSome });
  return {
    readReceipts: async (signatures) => {
      // Whom deposits go to is read before each is judged: another process may have seen them.
      const [found, isOwner] = await Promise.all([
        readAll("transactions", signatures),
        readOwners(),
      ]);
      return new Map(
        [...found].map(([signature, one]): [string, TransactionReceipt] => [
          signature,
          receiptOf(one, verifyTransaction(one.landed, tokens, isOwner)),
        ]),
      );
    },
    readAbsent: (seen, range) =>
      readAbsent(ground, {
        what: "absent transactions",
        seen,
        findProofs: (provider) => findProofs(provider, range),
        transactionQuestion,
        blockQuestions: (slot) => [signaturesQuestion(slot), slotsQuestion(slot, slot)],
        isGone: isGoneFromSlot,
      }),
    readSenders: async (signatures) => {
      const found = await readAll("senders", signatures);
      return new Map(
        [...found].flatMap(([signature, { block, landed }]): [string, Sender][] =>
          // One with a durable nonce never expires: no height proves that it is gone.
          isOfDurableNonce(landed)
            ? []
            : [[signature, { address: feePayerOf(landed), nonce: block.height + livesForBlocks }]],
        ),
      );
    },
    // Heights stand for nonces: a transaction that could land up to one is gone where more have passed.
    readUsedNonces: (_address, slot) =>
      ground.turn.ask(
        "a block's height",
        async (provider) => (await askBlockUpTo(provider, slot)).height,
      ),
  };
};

const receiptOf = (
  { block, landed }: Found,
  transfers: TransactionReceipt["transfers"],
): TransactionReceipt => {
  const { signature, slot, timestampSeconds, ...evidence } = landed;
  return {
    transactionHash: signature,
    blockNumber: slot,
    blockHash: block.hash,
    timestampSeconds,
    sender: feePayerOf(landed),
    transfers,
    // The keys as well: deposits are made of them, and are not compared by themselves.
    evidence,
  };
};

const feePayerOf = ({ keys }: SolanaTransaction): string => keys[0];

const askSome = async (
  provider: Provider,
  signatures: readonly string[],
): Promise<ReadonlyMap<string, Found>> => {
  const answers = await provider.askMany(signatures.map(transactionQuestion));
  const known = answers.flatMap((landed, index) => {
    if (landed === null) return [];
    if (landed.signature !== signatures[index]) {
      throw new RpcFault("invalid", "an answer for another transaction");
    }
    return [landed];
  });
  const blocks = await askBlocks(
    provider,
    known.map(({ slot }) => slot),
  );
  return new Map(
    known.flatMap((landed): [string, Found][] => {
      const block = blocks.get(landed.slot);
      return block === undefined ? [] : [[landed.signature, { block, landed }]];
    }),
  );
};

const transactionQuestion = (signature: string): Question<SolanaTransaction | null> => ({
  method: "getTransaction",
  params: [
    signature,
    { commitment, encoding: "json", maxSupportedTransactionVersion: transactionVersionMax },
  ],
  read: readTransaction,
});

/** A quiet chain may have empty blocks: so many slots and blocks are looked through. */
const slotsMax = 64;
const blocksMax = 8;

/**
 * Proves that a node has all transactions of a range: it still has the oldest slot, it has reached the
 * newest, and its index knows the last transaction up to there. `minContextSlot` says nothing about that
 * index, which is filled later.
 */
const findProofs = async (
  provider: Provider,
  { fromBlock, toBlock }: BlockRange,
): Promise<readonly Question<boolean>[]> => {
  const proofs: Question<boolean>[] = [
    {
      method: "getFirstAvailableBlock",
      params: [],
      read: (result) => readCount(result) <= fromBlock,
    },
    { ...reachQuestion(toBlock), read: (result) => readCount(result) >= toBlock },
  ];
  const oldest = Math.max(fromBlock, toBlock - slotsMax);
  const [slots] = await provider.ask([slotsQuestion(oldest, toBlock)]);
  for (const slot of slots.slice(-blocksMax).toReversed()) {
    const [{ signatures }] = await provider.ask([signaturesQuestion(slot)]);
    const signature = signatures.at(-1);
    if (signature === undefined) continue;
    const { read, ...call } = transactionQuestion(signature);
    return [...proofs, { ...call, read: (result) => read(result) !== null }];
  }
  return proofs;
};

/** Whether a slot has another block than the one in which a transaction was seen, none, or one without it. */
const isGoneFromSlot = (seen: SeenTransaction, [block, slots]: readonly Answer[]): boolean => {
  if (block !== undefined && "value" in block) {
    // The question's own parser has made this value.
    const { hash, signatures } = block.value as ReturnType<typeof readBlockSignatures>;
    return isGoneFrom(seen, { hash, transactionHashes: signatures });
  }
  // The slot was skipped.
  return slots !== undefined && "value" in slots && (slots.value as readonly number[]).length === 0;
};
