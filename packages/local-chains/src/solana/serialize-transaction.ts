import { getBase58Decoder } from "@solana/kit";
import type { LandedTransaction } from "./create-ledger.ts";
import { unsupportedVersionError } from "./rpc-errors.ts";

/** The format in which a caller requests transactions. */
export type TransactionFormat = {
  encoding: "json" | "base64" | "base58";
  maxVersion: number | undefined;
  details: "full" | "accounts";
};

/** Serializes a transaction in a block like `getTransaction` and `getBlock` do. */
export const serializeTransaction = (landed: LandedTransaction, format: TransactionFormat) => {
  const { version } = landed.message;
  if (typeof version === "number" && version > (format.maxVersion ?? -1)) {
    throw unsupportedVersionError(version);
  }
  const isFull = format.details === "full";
  return {
    transaction: isFull ? encodeTransaction(landed, format.encoding) : listAccounts(landed),
    meta: isFull ? serializeMeta(landed) : serializeBalances(landed),
    ...(format.maxVersion === undefined ? {} : { version }),
  };
};

const encodeTransaction = (
  landed: LandedTransaction,
  encoding: TransactionFormat["encoding"],
): unknown => {
  const { bytes, message, signatures } = landed;
  if (encoding === "base64") return [Buffer.from(bytes).toString("base64"), encoding];
  if (encoding === "base58") return [getBase58Decoder().decode(bytes), encoding];
  const { header, staticAccounts, lifetimeToken, instructions, addressTableLookups } = message;
  return {
    signatures,
    message: {
      header: {
        numRequiredSignatures: header.numSignerAccounts,
        numReadonlySignedAccounts: header.numReadonlySignerAccounts,
        numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
      },
      accountKeys: staticAccounts,
      recentBlockhash: lifetimeToken,
      instructions: instructions.map(({ programAddressIndex, accountIndices, data }) => ({
        programIdIndex: programAddressIndex,
        accounts: accountIndices ?? [],
        data: getBase58Decoder().decode(data ?? new Uint8Array()),
        stackHeight: 1,
      })),
      ...(message.version === 0
        ? {
            addressTableLookups: (addressTableLookups ?? []).map((lookup) => ({
              accountKey: lookup.lookupTableAddress,
              writableIndexes: lookup.writableIndexes,
              readonlyIndexes: lookup.readonlyIndexes,
            })),
          }
        : {}),
    },
  };
};

const listAccounts = ({ signatures, keys, writableKeys, message }: LandedTransaction) => ({
  signatures,
  accountKeys: keys.map((pubkey, index) => ({
    pubkey,
    signer: index < message.header.numSignerAccounts,
    source: index < message.staticAccounts.length ? "transaction" : "lookupTable",
    writable: writableKeys.includes(pubkey),
  })),
});

const serializeBalances = (landed: LandedTransaction) => {
  const { err, fee, preBalances, postBalances, preTokenBalances, postTokenBalances } = landed;
  const status = err === null ? { Ok: null } : { Err: err };
  return { err, status, fee, preBalances, postBalances, preTokenBalances, postTokenBalances };
};

const serializeMeta = (landed: LandedTransaction) => ({
  ...serializeBalances(landed),
  innerInstructions: landed.innerInstructions,
  logMessages: landed.logs,
  rewards: [],
  loadedAddresses: landed.loadedAddresses,
  computeUnitsConsumed: landed.computeUnits,
});

const memoPrograms: ReadonlySet<string> = new Set([
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
]);

/** Serializes a transaction's memos in the format of signature lists: `[length] text`. */
export const serializeMemo = ({ message, keys }: LandedTransaction): string | null => {
  const memos = message.instructions
    .filter(({ programAddressIndex }) => memoPrograms.has(keys[programAddressIndex] ?? ""))
    .map(({ data = new Uint8Array() }) => `[${data.length}] ${Buffer.from(data).toString()}`);
  return memos.length === 0 ? null : memos.join("; ");
};
