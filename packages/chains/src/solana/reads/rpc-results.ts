import {
  type ResultParser,
  parseArray,
  parseObject,
  throwInvalidShape,
} from "../../rpc/parse-result.ts";
import type { SolanaInstruction } from "./decode-transfers.ts";
import type { BalanceChange, SolanaTransaction } from "./verify-transaction.ts";

/** A block without its transactions. */
export type SolanaBlock = {
  hash: string;
  parentHash: string;
  timestampSeconds: number;
  /** The number of blocks below this one. Slots without a block are not counted. */
  height: number;
};

export const parseBlock: ResultParser<SolanaBlock> = (result) => {
  const block = parseObject(result);
  return {
    hash: parseKey(block["blockhash"]),
    parentHash: parseKey(block["previousBlockhash"]),
    timestampSeconds: parseTimestamp(block["blockTime"]),
    height: parseCount(block["blockHeight"]),
  };
};

/** A block's hash and the signatures of its transactions. */
export const parseBlockSignatures: ResultParser<{ hash: string; signatures: readonly string[] }> = (
  result,
) => {
  const block = parseObject(result);
  return {
    hash: parseKey(block["blockhash"]),
    signatures: parseArray(block["signatures"]).map(parseSignature),
  };
};

/** A transaction that involves an account, and the transaction's slot. */
export type SignatureInfo = {
  signature: string;
  slot: number;
  isSuccessful: boolean;
  timestampSeconds: number | undefined;
};

export const parseSignatureInfos: ResultParser<readonly SignatureInfo[]> = (result) => {
  const signatureInfos = parseArray(result).map((item) => {
    const { blockTime, err, signature, slot } = parseObject(item);
    if (err === undefined) return throwInvalidShape();
    return {
      signature: parseSignature(signature),
      slot: parseCount(slot),
      isSuccessful: err === null,
      timestampSeconds: typeof blockTime === "number" ? parseTimestamp(blockTime) : undefined,
    };
  });
  // Signatures must be ordered from newest to oldest, because readers rely on this to find the end
  // of a list.
  const isOrdered = signatureInfos.every(
    ({ slot }, index) => slot <= (signatureInfos[index - 1]?.slot ?? slot),
  );
  return isOrdered ? signatureInfos : throwInvalidShape();
};

export const parseSlots: ResultParser<readonly number[]> = (result) =>
  parseArray(result).map(parseCount);

/** Parses a non-negative safe integer. */
export const parseCount: ResultParser<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? value
    : throwInvalidShape();

/** The field with the signed transaction. The field `meta` next to it contains the result. */
const transactionField = "transaction";

/** Parses a transaction in `json` encoding. Returns null if the result is null. */
export const parseTransaction: ResultParser<SolanaTransaction | null> = (result) => {
  if (result === null) return null;
  const transaction = parseObject(result);
  const { message: rawMessage, signatures } = parseObject(transaction[transactionField]);
  const message = parseObject(rawMessage);
  const meta = parseObject(transaction["meta"]);
  if (meta["err"] === undefined) return throwInvalidShape();
  const keys = parseKeys(message, meta);
  const [feePayer, ...otherKeys] = keys;
  const instructions = parseInstructions(message, meta);
  for (const { accountIndexes, programIndex } of instructions) {
    if (programIndex >= keys.length || accountIndexes.some((index) => index >= keys.length)) {
      return throwInvalidShape();
    }
  }
  const signerCount = parseCount(parseObject(message["header"])["numRequiredSignatures"]);
  // The fee payer always signs, so there must be at least one signer.
  if (feePayer === undefined || signerCount === 0 || signerCount > keys.length)
    return throwInvalidShape();
  return {
    signature: parseSignature(parseArray(signatures)[0]),
    slot: parseCount(transaction["slot"]),
    timestampSeconds: parseTimestamp(transaction["blockTime"]),
    isSuccessful: meta["err"] === null,
    keys: [feePayer, ...otherKeys],
    signerCount,
    instructions,
    balances: parseBalances(meta, keys.length),
  };
};

/** Returns the static keys, followed by the keys of lookup tables, with writable keys first. */
const parseKeys = (
  message: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>>,
): readonly string[] => {
  const staticKeys = parseArray(message["accountKeys"]);
  const lookupTables = parseArray(message["addressTableLookups"] ?? []);
  // Without the keys of the lookup tables, instructions would refer to the wrong keys.
  if (lookupTables.length > 0 && meta["loadedAddresses"] === undefined) return throwInvalidShape();
  const loadedKeys = parseObject(meta["loadedAddresses"] ?? { writable: [], readonly: [] });
  const lookupKeys = [...parseArray(loadedKeys["writable"]), ...parseArray(loadedKeys["readonly"])];
  return [...staticKeys, ...lookupKeys].map(parseKey);
};

/** Returns each instruction, followed by the inner instructions that its program called. */
const parseInstructions = (
  message: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>>,
): readonly SolanaInstruction[] => {
  // A node that does not store inner instructions returns null. `parseArray` rejects null.
  const innerInstructions = parseArray(meta["innerInstructions"]).map((item) => {
    const { index, instructions } = parseObject(item);
    return {
      index: parseCount(index),
      instructions: parseArray(instructions).map(parseInstruction),
    };
  });
  return parseArray(message["instructions"]).flatMap((item, index) => [
    parseInstruction(item),
    ...innerInstructions
      .filter((inner) => inner.index === index)
      .flatMap(({ instructions }) => instructions),
  ]);
};

const parseInstruction = (item: unknown): SolanaInstruction => {
  const { accounts, data, programIdIndex } = parseObject(item);
  if (typeof data !== "string") return throwInvalidShape();
  return {
    programIndex: parseCount(programIdIndex),
    accountIndexes: parseArray(accounts).map(parseCount),
    data,
  };
};

/**
 * Parses the balances before and after the transaction. An account that is in only one of the two
 * lists has a balance of 0 in the other.
 */
const parseBalances = (
  meta: Readonly<Record<string, unknown>>,
  keyCount: number,
): readonly BalanceChange[] => {
  const parseBalance = (item: unknown) => {
    const { accountIndex, mint, owner, programId, uiTokenAmount } = parseObject(item);
    const { amount } = parseObject(uiTokenAmount);
    if (typeof amount !== "string" || !amountPattern.test(amount)) return throwInvalidShape();
    const index = parseCount(accountIndex);
    if (index >= keyCount) return throwInvalidShape();
    const account = { mint: parseKey(mint), owner: parseKey(owner), program: parseKey(programId) };
    return { accountIndex: index, amount, ...account };
  };
  const [balancesBefore, balancesAfter] = [meta["preTokenBalances"], meta["postTokenBalances"]].map(
    (list) => parseArray(list).map(parseBalance),
  );
  const changes: BalanceChange[] = [];
  for (const { amount, ...account } of balancesAfter ?? []) {
    changes.push({ ...account, before: "0", after: amount });
  }
  for (const { amount, ...account } of balancesBefore ?? []) {
    // If an account is closed and created again in one transaction, its owner can change.
    const matchingChange = changes.find(
      ({ accountIndex, mint, owner }) =>
        accountIndex === account.accountIndex && mint === account.mint && owner === account.owner,
    );
    if (matchingChange === undefined) changes.push({ ...account, before: amount, after: "0" });
    else matchingChange.before = amount;
  }
  const changeKeys = changes.map(
    ({ accountIndex, mint, owner }) => `${accountIndex} ${mint} ${owner}`,
  );
  return new Set(changeKeys).size === changeKeys.length ? changes : throwInvalidShape();
};

/** An account's program and its data, or null if the account does not exist. */
export type Account = { program: string; data: Uint8Array } | null;

/** Parses exactly as many accounts as were requested, in the same order. */
export const parseAccounts =
  (count: number): ResultParser<readonly Account[]> =>
  (result) => {
    const accounts = parseArray(parseObject(result)["value"]);
    return accounts.length === count ? accounts.map(parseAccount) : throwInvalidShape();
  };

const parseAccount: ResultParser<Account> = (result) => {
  if (result === null) return null;
  const { data, owner } = parseObject(result);
  const [encodedData, encoding] = parseArray(data);
  if (typeof encodedData !== "string" || encoding !== "base64") return throwInvalidShape();
  return { program: parseKey(owner), data: Buffer.from(encodedData, "base64") };
};

/** Up to 2^64 - 1. */
const amountPattern = /^\d{1,20}$/;
const keyPattern = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const signaturePattern = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

export const parseKey: ResultParser<string> = (value) =>
  typeof value === "string" && keyPattern.test(value) ? value : throwInvalidShape();

const parseSignature: ResultParser<string> = (value) =>
  typeof value === "string" && signaturePattern.test(value) ? value : throwInvalidShape();

/** The end of the year 9999. Rows and events cannot store later times. */
const timeSecondsMax = 253_402_300_799;

const parseTimestamp: ResultParser<number> = (value) => {
  const seconds = parseCount(value);
  return seconds <= timeSecondsMax ? seconds : throwInvalidShape();
};
