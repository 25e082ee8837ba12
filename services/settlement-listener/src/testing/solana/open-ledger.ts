import { createHash } from "node:crypto";
import { type Address, getBase58Decoder } from "@solana/kit";
import { Clock, LiteSVM } from "litesvm";
import {
  type Execution,
  type ReadTransaction,
  executeTransaction,
  readAccount,
  readTransaction,
  writeAccount,
} from "./execute-transaction.ts";
import type { StoredAccount } from "./token-account.ts";
import type { TransactionError } from "./transaction-error.ts";

/** A slot in which a block was made. */
export type Block = {
  slot: number;
  /** Its place among the blocks of its fork; slots are skipped, heights are not. */
  height: number;
  parentSlot: number;
  hash: string;
  parentHash: string;
  timeSeconds: number;
  transactions: readonly LandedTransaction[];
  /** The accounts that it changed, as they were before it. */
  before: ReadonlyMap<Address, StoredAccount | undefined>;
};

/** A transaction in a block. */
export type LandedTransaction = ReadTransaction & Execution & { slot: number; height: number };

/** A transaction that was taken off the chain and lands again, so many blocks above the fork. */
export type Landing = { signature: string; offset: number };

/** How many blocks a transaction may be younger than the hash that it names. */
export const blockhashAgeMax = 150;

/** The slots of the VM begin here, so a slot is never taken for a height. */
const firstSlot = 447_552_000;

export type Ledger = ReturnType<typeof openLedger>;

/**
 * Blocks and forks above a real VM. LiteSVM executes; this keeps what a validator keeps around it:
 * slots, hashes, what was changed and by whom, and how to take it back.
 */
export const openLedger = ({ now }: { now: () => number }) => {
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  const genesis = genesisBlock();
  const blocks: Block[] = [genesis];
  const abandoned = new Map<string, Uint8Array>();
  const landings = new Map<string, LandedTransaction[]>();
  const byKey = new Map<Address, LandedTransaction[]>();
  let waiting: Uint8Array[] = [];
  let slot = genesis.slot;
  let nextTime: number | undefined;

  const head = (): Block => blocks.at(-1) ?? genesis;
  const isOnChain = ({ slot, height }: { slot: number; height: number }): boolean =>
    blocks[height]?.slot === slot;
  /** Whether a transaction may still stand in the next block. */
  const refuse = ({ signature, message }: ReadTransaction): TransactionError | undefined => {
    if (landings.get(signature)?.some(isOnChain) === true) return "AlreadyProcessed";
    const recent = blocks.slice(-blockhashAgeMax - 1);
    return recent.some(({ hash }) => hash === message.lifetimeToken)
      ? undefined
      : "BlockhashNotFound";
  };

  const land = (bytes: Uint8Array, block: Draft): void => {
    const read = readTransaction(svm, bytes);
    if (refuse(read) !== undefined || block.signatures.has(read.signature)) return;
    const before = read.writableKeys.map((key) => [key, readAccount(svm, key)] as const);
    const done = executeTransaction(svm, read);
    if ("refusedFor" in done) return;
    block.signatures.add(read.signature);
    for (const [key, account] of before) {
      if (!block.before.has(key)) block.before.set(key, account);
    }
    const landed = { ...read, ...done.execution, slot: block.slot, height: block.height };
    block.transactions.push(landed);
    append(landings, read.signature, landed);
    for (const key of new Set(read.keys)) append(byKey, key, landed);
  };

  /** Makes a block in the next slot. What may not stand in it is dropped, as leaders do. */
  const produce = (transactions: readonly Uint8Array[] = waiting.splice(0)): Block => {
    const parent = head();
    slot += 1;
    const timeSeconds = Math.max(parent.timeSeconds, nextTime ?? now());
    nextTime = undefined;
    tellTime(svm, slot, timeSeconds);
    const draft: Draft = {
      slot,
      height: parent.height + 1,
      transactions: [],
      signatures: new Set(),
      before: new Map(),
    };
    for (const bytes of transactions) land(bytes, draft);
    const hash = hashOf(parent.hash, String(slot), ...draft.signatures);
    const { signatures: _, ...made } = draft;
    const above = { parentSlot: parent.slot, parentHash: parent.hash };
    const block: Block = { ...made, ...above, hash, timeSeconds };
    blocks.push(block);
    return block;
  };

  const undo = (): Block => {
    const block = blocks.pop();
    if (block === undefined || block === genesis) throw new Error("genesis cannot be taken back");
    for (const [key, account] of block.before) writeAccount(svm, key, account);
    for (const { signature, bytes } of block.transactions) abandoned.set(signature, bytes);
    return block;
  };

  return {
    svm,
    blocks: blocks as readonly Block[],
    head,
    refuse,
    produce,
    landingsOf: (signature: string): readonly LandedTransaction[] => landings.get(signature) ?? [],
    landingsWith: (key: Address): readonly LandedTransaction[] => byKey.get(key) ?? [],
    read: (bytes: Uint8Array): ReadTransaction => readTransaction(svm, bytes),
    /** Puts a transaction before the next leader. */
    submit: (bytes: Uint8Array): void => {
      waiting.push(bytes);
    },
    waitingCount: (): number => waiting.length,
    /** Drops what waits, as leaders do when they have no room. */
    dropWaiting: (): void => {
      waiting = [];
    },
    skip: (count: number): void => {
      slot += count;
    },
    setTime: (seconds: number): void => {
      nextTime = seconds;
    },
    /** An account as it was after the block of the given height. */
    accountAt: (address: Address, height: number): StoredAccount | undefined => {
      const next = blocks.slice(height + 1).find(({ before }) => before.has(address));
      return next === undefined ? readAccount(svm, address) : next.before.get(address);
    },
    /**
     * Another fork wins: the newest blocks are taken back, their slots count as skipped, and as many
     * other blocks follow. What stood in them is gone but for what lands again.
     */
    fork: (depth: number, again: readonly Landing[]): void => {
      if (depth >= blocks.length) throw new Error(`there are only ${blocks.length - 1} blocks`);
      for (let undone = 0; undone < depth; undone += 1) undo();
      for (let offset = 0; offset < depth; offset += 1) {
        const due = again.filter((landing) => landing.offset === offset);
        produce(due.map(({ signature }) => abandoned.get(signature) ?? missing(signature)));
      }
    },
  };
};

type Draft = Pick<Block, "slot" | "height"> & {
  transactions: LandedTransaction[];
  signatures: Set<string>;
  before: Map<Address, StoredAccount | undefined>;
};

const genesisBlock = (): Block => ({
  slot: firstSlot,
  height: 0,
  parentSlot: firstSlot - 1,
  hash: hashOf("payment links: local solana"),
  parentHash: hashOf("nothing"),
  timeSeconds: 0,
  transactions: [],
  before: new Map(),
});

const hashOf = (...parts: readonly string[]): string =>
  getBase58Decoder().decode(createHash("sha256").update(parts.join("\n")).digest());

const append = <Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void => {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
};

const tellTime = (svm: LiteSVM, slot: number, timeSeconds: number): void => {
  const { epoch, epochStartTimestamp, leaderScheduleEpoch } = svm.getClock();
  svm.setClock(
    new Clock(BigInt(slot), epochStartTimestamp, epoch, leaderScheduleEpoch, BigInt(timeSeconds)),
  );
};

const missing = (signature: string): never => {
  throw new Error(`no block that was taken back had ${signature}`);
};
