import { createHash } from "node:crypto";
import { type Address, getBase58Decoder } from "@solana/kit";
import { Clock, LiteSVM } from "litesvm";
import {
  type Execution,
  type DecodedTransaction,
  executeTransaction,
  readAccount,
  decodeTransaction,
  writeAccount,
} from "./execute-transaction.ts";
import type { StoredAccount } from "./token-account.ts";
import type { TransactionError } from "./transaction-error.ts";

/** A block with its slot. */
export type Block = {
  slot: number;
  /** The position of the block on its fork. Slots can be skipped, but heights cannot. */
  height: number;
  parentSlot: number;
  hash: string;
  parentHash: string;
  timeSeconds: number;
  transactions: readonly LandedTransaction[];
};

/** A block with the accounts that it changed, and their state before it. */
type LedgerBlock = Block & { accountsBefore: ReadonlyMap<Address, StoredAccount | undefined> };

/** A transaction in a block, with its index in the block. */
export type LandedTransaction = Omit<DecodedTransaction, "transaction"> &
  Execution & { slot: number; height: number; index: number };

/**
 * A transaction that a fork orphaned and that lands again, `offset` blocks after the start of the
 * fork.
 */
export type Landing = { signature: string; offset: number };

/** The maximum age of a transaction's blockhash, in blocks. */
export const blockhashAgeMax = 150;

/**
 * The first slot of the VM. It is far above any height, so slots and heights cannot be confused.
 */
const firstSlot = 447_552_000;

export type Ledger = ReturnType<typeof createLedger>;

/**
 * Creates a ledger that adds blocks and forks to a real VM. LiteSVM executes the transactions. The
 * ledger stores what a validator would store: slots, hashes, changed accounts, and the data to undo
 * a block.
 */
export const createLedger = ({ now }: { now: () => number }) => {
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  const genesis = createGenesisBlock();
  const blocks: LedgerBlock[] = [genesis];
  const orphanedTransactions = new Map<string, Uint8Array>();
  const landings = new Map<string, LandedTransaction[]>();
  const landingsByKey = new Map<string, LandedTransaction[]>();
  let pendingTransactions: Uint8Array[] = [];
  let slot = genesis.slot;
  let nextTimeSeconds: number | undefined;

  const head = (): LedgerBlock => blocks.at(-1) ?? genesis;
  const isOnChain = ({ slot, height }: { slot: number; height: number }): boolean =>
    blocks[height]?.slot === slot;
  /** Returns why the next block cannot contain a transaction, or undefined if it can. */
  const findRejection = ({
    signature,
    message,
  }: DecodedTransaction): TransactionError | undefined => {
    if (landings.get(signature)?.some(isOnChain) === true) return "AlreadyProcessed";
    const recentBlocks = blocks.slice(-blockhashAgeMax - 1);
    return recentBlocks.some(({ hash }) => hash === message.lifetimeToken)
      ? undefined
      : "BlockhashNotFound";
  };

  const landTransaction = (bytes: Uint8Array, block: Draft): void => {
    const decoded = decodeTransaction(svm, bytes);
    if (findRejection(decoded) !== undefined || block.signatures.has(decoded.signature)) return;
    const accountsBefore = decoded.writableKeys.map((key) => [key, readAccount(svm, key)] as const);
    const result = executeTransaction(svm, decoded);
    if ("refusedFor" in result) return;
    block.signatures.add(decoded.signature);
    for (const [key, account] of accountsBefore) {
      if (!block.accountsBefore.has(key)) block.accountsBefore.set(key, account);
    }
    const { slot, height, transactions } = block;
    const position = { slot, height, index: transactions.length };
    const landed = { ...decoded, ...result.execution, ...position };
    transactions.push(landed);
    appendToList(landings, decoded.signature, landed);
    for (const key of new Set(decoded.keys)) appendToList(landingsByKey, key, landed);
  };

  /**
   * Produces a block in the next slot. Like a leader, it drops transactions that the block must not
   * contain.
   */
  const produce = (transactions: readonly Uint8Array[] = pendingTransactions.splice(0)): Block => {
    const parent = head();
    slot += 1;
    const timeSeconds = Math.max(parent.timeSeconds, nextTimeSeconds ?? now());
    nextTimeSeconds = undefined;
    setVmClock(svm, slot, timeSeconds);
    const draft: Draft = {
      slot,
      height: parent.height + 1,
      transactions: [],
      signatures: new Set(),
      accountsBefore: new Map(),
    };
    for (const bytes of transactions) landTransaction(bytes, draft);
    const hash = computeHash(parent.hash, String(slot), ...draft.signatures);
    const { signatures: _, ...draftFields } = draft;
    const parentFields = { parentSlot: parent.slot, parentHash: parent.hash };
    const block: LedgerBlock = { ...draftFields, ...parentFields, hash, timeSeconds };
    blocks.push(block);
    return block;
  };

  const undoBlock = (): void => {
    const block = blocks.pop();
    if (block === undefined || block === genesis)
      throw new Error("the genesis block cannot be removed");
    for (const [key, account] of block.accountsBefore) writeAccount(svm, key, account);
    for (const { signature, bytes } of block.transactions)
      orphanedTransactions.set(signature, bytes);
  };

  return {
    svm,
    blocks: blocks as readonly LedgerBlock[],
    head,
    findRejection,
    produce,
    listLandings: (signature: string): readonly LandedTransaction[] =>
      landings.get(signature) ?? [],
    listLandingsByKey: (key: string): readonly LandedTransaction[] => landingsByKey.get(key) ?? [],
    decodeTransaction: (bytes: Uint8Array): DecodedTransaction => decodeTransaction(svm, bytes),
    /** Queues a transaction for the next block. */
    submit: (bytes: Uint8Array): void => {
      pendingTransactions.push(bytes);
    },
    countPending: (): number => pendingTransactions.length,
    /** Drops the queued transactions, as a leader without free capacity does. */
    dropPending: (): void => {
      pendingTransactions = [];
    },
    skip: (count: number): void => {
      slot += count;
    },
    setNextBlockTime: (seconds: number): void => {
      nextTimeSeconds = seconds;
    },
    /** Returns an account's state after the block of the given height. */
    readAccountAt: (address: Address, height: number): StoredAccount | undefined => {
      const nextChange = blocks
        .slice(height + 1)
        .find(({ accountsBefore }) => accountsBefore.has(address));
      return nextChange === undefined
        ? readAccount(svm, address)
        : nextChange.accountsBefore.get(address);
    },
    /**
     * Replaces the newest blocks with a fork of the same length. The slots of the replaced blocks
     * become skipped slots. The transactions of the replaced blocks are dropped, except those that
     * land again.
     */
    fork: (depth: number, relandings: readonly Landing[]): void => {
      if (depth >= blocks.length) throw new Error(`there are only ${blocks.length - 1} blocks`);
      for (let index = 0; index < depth; index += 1) undoBlock();
      for (let offset = 0; offset < depth; offset += 1) {
        const dueLandings = relandings.filter((landing) => landing.offset === offset);
        produce(
          dueLandings.map(
            ({ signature }) => orphanedTransactions.get(signature) ?? throwMissing(signature),
          ),
        );
      }
    },
  };
};

type Draft = Pick<Block, "slot" | "height"> & {
  transactions: LandedTransaction[];
  signatures: Set<string>;
  accountsBefore: Map<Address, StoredAccount | undefined>;
};

const createGenesisBlock = (): LedgerBlock => ({
  slot: firstSlot,
  height: 0,
  parentSlot: firstSlot - 1,
  hash: computeHash("payment links: local solana"),
  parentHash: computeHash("nothing"),
  timeSeconds: 0,
  transactions: [],
  accountsBefore: new Map(),
});

const computeHash = (...parts: readonly string[]): string =>
  getBase58Decoder().decode(createHash("sha256").update(parts.join("\n")).digest());

const appendToList = <Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void => {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
};

const setVmClock = (svm: LiteSVM, slot: number, timeSeconds: number): void => {
  const { epoch, epochStartTimestamp, leaderScheduleEpoch } = svm.getClock();
  svm.setClock(
    new Clock(BigInt(slot), epochStartTimestamp, epoch, leaderScheduleEpoch, BigInt(timeSeconds)),
  );
};

const throwMissing = (signature: string): never => {
  throw new Error(`no removed block contains ${signature}`);
};
