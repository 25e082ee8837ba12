import { type ReadAnswer, readArray, readObject, refuseShape } from "../../rpc/read-answer.ts";
import type { SolanaInstruction } from "./decode-transfers.ts";
import type { BalanceChange, SolanaTransaction } from "./verify-transaction.ts";

/** A block, without what is in it. */
export type SolanaBlock = {
  hash: string;
  parentHash: string;
  timestampSeconds: number;
  /** How many blocks are below it: slots without a block do not count. */
  height: number;
};

export const readBlock: ReadAnswer<SolanaBlock> = (result) => {
  const block = readObject(result);
  return {
    hash: readKey(block["blockhash"]),
    parentHash: readKey(block["previousBlockhash"]),
    timestampSeconds: readTime(block["blockTime"]),
    height: readCount(block["blockHeight"]),
  };
};

/** A block's hash and the signatures of its transactions. */
export const readBlockSignatures: ReadAnswer<{ hash: string; signatures: readonly string[] }> = (
  result,
) => {
  const block = readObject(result);
  return {
    hash: readKey(block["blockhash"]),
    signatures: readArray(block["signatures"]).map(readSignature),
  };
};

/** A transaction that names an account, and where it stands. */
export type ListedSignature = {
  signature: string;
  slot: number;
  isSuccessful: boolean;
  timestampSeconds: number | undefined;
};

export const readSignatures: ReadAnswer<readonly ListedSignature[]> = (result) => {
  const listed = readArray(result).map((item) => {
    const { blockTime, err, signature, slot } = readObject(item);
    if (err === undefined) return refuseShape();
    return {
      signature: readSignature(signature),
      slot: readCount(slot),
      isSuccessful: err === null,
      timestampSeconds: typeof blockTime === "number" ? readTime(blockTime) : undefined,
    };
  });
  // Newest first: by that it is known where the list may be cut.
  const isOrdered = listed.every(({ slot }, index) => slot <= (listed[index - 1]?.slot ?? slot));
  return isOrdered ? listed : refuseShape();
};

export const readSlots: ReadAnswer<readonly number[]> = (result) =>
  readArray(result).map(readCount);

/** A whole number, exact as a JS number, and not negative. */
export const readCount: ReadAnswer<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : refuseShape();

/** What was signed, beside what came of it. */
const signedPart = "transaction";

/** A transaction as a node tells it in the encoding `json`, or null. */
export const readTransaction: ReadAnswer<SolanaTransaction | null> = (result) => {
  if (result === null) return null;
  const told = readObject(result);
  const { message: said, signatures } = readObject(told[signedPart]);
  const message = readObject(said);
  const meta = readObject(told["meta"]);
  if (meta["err"] === undefined) return refuseShape();
  const keys = readKeys(message, meta);
  const [feePayer, ...others] = keys;
  const instructions = readInstructions(message, meta);
  for (const { accountIndexes, programIndex } of instructions) {
    if (programIndex >= keys.length || accountIndexes.some((index) => index >= keys.length)) {
      return refuseShape();
    }
  }
  const signerCount = readCount(readObject(message["header"])["numRequiredSignatures"]);
  // Who pays the fee has signed.
  if (feePayer === undefined || signerCount === 0 || signerCount > keys.length)
    return refuseShape();
  return {
    signature: readSignature(readArray(signatures)[0]),
    slot: readCount(told["slot"]),
    timestampSeconds: readTime(told["blockTime"]),
    isSuccessful: meta["err"] === null,
    keys: [feePayer, ...others],
    signerCount,
    instructions,
    balances: readBalances(meta, keys.length),
  };
};

/** Static keys, then those of look-up tables: writable ones first. */
const readKeys = (
  message: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>>,
): readonly string[] => {
  const own = readArray(message["accountKeys"]);
  const tables = readArray(message["addressTableLookups"] ?? []);
  // Without them the places of keys would be other ones.
  if (tables.length > 0 && meta["loadedAddresses"] === undefined) return refuseShape();
  const loaded = readObject(meta["loadedAddresses"] ?? { writable: [], readonly: [] });
  const more = [...readArray(loaded["writable"]), ...readArray(loaded["readonly"])];
  return [...own, ...more].map(readKey);
};

/** Each instruction, and behind it those that its program called. */
const readInstructions = (
  message: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>>,
): readonly SolanaInstruction[] => {
  // A node that keeps none says null; what an instruction called is not known then.
  const called = readArray(meta["innerInstructions"]).map((item) => {
    const { index, instructions } = readObject(item);
    return { index: readCount(index), instructions: readArray(instructions).map(readInstruction) };
  });
  return readArray(message["instructions"]).flatMap((item, index) => [
    readInstruction(item),
    ...called.filter((one) => one.index === index).flatMap(({ instructions }) => instructions),
  ]);
};

const readInstruction = (item: unknown): SolanaInstruction => {
  const { accounts, data, programIdIndex } = readObject(item);
  if (typeof data !== "string") return refuseShape();
  return {
    programIndex: readCount(programIdIndex),
    accountIndexes: readArray(accounts).map(readCount),
    data,
  };
};

/** An account that is in only one of the lists held nothing before, or holds nothing since. */
const readBalances = (
  meta: Readonly<Record<string, unknown>>,
  keyCount: number,
): readonly BalanceChange[] => {
  const read = (item: unknown) => {
    const { accountIndex, mint, owner, programId, uiTokenAmount } = readObject(item);
    const { amount } = readObject(uiTokenAmount);
    if (typeof amount !== "string" || !amountForm.test(amount)) return refuseShape();
    const index = readCount(accountIndex);
    if (index >= keyCount) return refuseShape();
    const account = { mint: readKey(mint), owner: readKey(owner), program: readKey(programId) };
    return { accountIndex: index, amount, ...account };
  };
  const [before, after] = [meta["preTokenBalances"], meta["postTokenBalances"]].map((list) =>
    readArray(list).map(read),
  );
  const changes: BalanceChange[] = [];
  for (const { amount, ...account } of after ?? []) {
    changes.push({ ...account, before: "0", after: amount });
  }
  for (const { amount, ...account } of before ?? []) {
    // One that was closed and opened again in one transaction may be another's since.
    const same = changes.find(
      ({ accountIndex, mint, owner }) =>
        accountIndex === account.accountIndex && mint === account.mint && owner === account.owner,
    );
    if (same === undefined) changes.push({ ...account, before: amount, after: "0" });
    else same.before = amount;
  }
  const names = changes.map(({ accountIndex, mint, owner }) => `${accountIndex} ${mint} ${owner}`);
  return new Set(names).size === names.length ? changes : refuseShape();
};

/** An account's program and its bytes; null where there is none. */
export type Account = { program: string; data: Uint8Array } | null;

/** As many accounts as were asked for, in their order. */
export const readAccounts =
  (count: number): ReadAnswer<readonly Account[]> =>
  (result) => {
    const accounts = readArray(readObject(result)["value"]);
    return accounts.length === count ? accounts.map(readAccount) : refuseShape();
  };

const readAccount: ReadAnswer<Account> = (result) => {
  if (result === null) return null;
  const { data, owner } = readObject(result);
  const [text, encoding] = readArray(data);
  if (typeof text !== "string" || encoding !== "base64") return refuseShape();
  return { program: readKey(owner), data: Buffer.from(text, "base64") };
};

/** Up to 2^64 - 1. */
const amountForm = /^\d{1,20}$/;
const keyForm = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const signatureForm = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

export const readKey: ReadAnswer<string> = (value) =>
  typeof value === "string" && keyForm.test(value) ? value : refuseShape();

const readSignature: ReadAnswer<string> = (value) =>
  typeof value === "string" && signatureForm.test(value) ? value : refuseShape();

/** The end of the year 9999: later instants have no form that a row or an event can hold. */
const timeSecondsMax = 253_402_300_799;

const readTime: ReadAnswer<number> = (value) => {
  const seconds = readCount(value);
  return seconds <= timeSecondsMax ? seconds : refuseShape();
};
