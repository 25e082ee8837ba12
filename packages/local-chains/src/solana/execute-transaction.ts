import {
  type Address,
  type Transaction,
  getAddressCodec,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from "@solana/kit";
import { FailedTransactionMetadata, type LiteSVM, type TransactionMetadata } from "litesvm";
import {
  decodeHolding,
  decodeDecimals,
  serializeTokenAmount,
  type StoredAccount,
} from "./token-account.ts";
import { type TransactionError, decodeTransactionError } from "./transaction-error.ts";

/** A transaction decoded from its signed bytes, with the keys from its lookup tables. */
export type DecodedTransaction = {
  signature: string;
  signatures: readonly string[];
  bytes: Uint8Array;
  transaction: Transaction;
  message: TransactionMessage;
  loadedAddresses: { writable: readonly Address[]; readonly: readonly Address[] };
  /** All keys. Instructions and balances refer to them by their index in this list. */
  keys: readonly Address[];
  writableKeys: readonly Address[];
};

/** The fields of a compiled message that are used here. Messages of all versions have them. */
type TransactionMessage = {
  version: "legacy" | number;
  header: {
    numSignerAccounts: number;
    numReadonlySignerAccounts: number;
    numReadonlyNonSignerAccounts: number;
  };
  staticAccounts: readonly Address[];
  lifetimeToken: string;
  instructions: readonly CompiledInstruction[];
  addressTableLookups?: readonly TableLookup[];
};
/** The instruction layout of version 1 (SIMD-0385). */
type Version1Message = Omit<TransactionMessage, "instructions"> & {
  instructionHeaders: readonly { programAccountIndex: number }[];
  instructionPayloads: readonly {
    instructionAccountIndices: readonly number[];
    instructionData: Readonly<Uint8Array>;
  }[];
};
type CompiledInstruction = {
  programAddressIndex: number;
  accountIndices?: readonly number[];
  data?: Readonly<Uint8Array>;
};
type TableLookup = {
  lookupTableAddress: Address;
  writableIndexes: readonly number[];
  readonlyIndexes: readonly number[];
};

type TokenBalance = {
  accountIndex: number;
  mint: string;
  owner: string;
  programId: string;
  uiTokenAmount: ReturnType<typeof serializeTokenAmount>;
};

/** The result of a transaction, like `meta` in a node's response. */
export type Execution = {
  err: TransactionError | null;
  fee: bigint;
  preBalances: readonly bigint[];
  postBalances: readonly bigint[];
  preTokenBalances: readonly TokenBalance[];
  postTokenBalances: readonly TokenBalance[];
  innerInstructions: readonly { index: number; instructions: readonly InnerInstruction[] }[];
  logs: readonly string[];
  computeUnits: bigint;
};
type InnerInstruction = {
  programIdIndex: number;
  accounts: number[];
  data: string;
  stackHeight: number;
};

/** Reads an account of the VM. Returns undefined if it has no lamports. */
export const readAccount = (svm: LiteSVM, address: Address): StoredAccount | undefined => {
  const account = svm.getAccount(address);
  if (!account.exists || account.lamports === 0n) return undefined;
  const { lamports, data, programAddress, executable } = account;
  return { lamports, data: new Uint8Array(data), owner: programAddress, isExecutable: executable };
};

/** Writes an account to the VM, or removes it if it is undefined. */
export const writeAccount = (svm: LiteSVM, address: Address, account: StoredAccount | undefined) =>
  svm.setAccount({
    address,
    data: account?.data ?? new Uint8Array(),
    executable: account?.isExecutable ?? false,
    lamports: (account?.lamports ?? 0n) as never,
    programAddress: account?.owner ?? ("11111111111111111111111111111111" as Address),
    space: BigInt(account?.data.length ?? 0),
  });

/** Decodes signed bytes. Throws if they are not a transaction. */
export const decodeTransaction = (svm: LiteSVM, bytes: Uint8Array): DecodedTransaction => {
  const transaction = getTransactionDecoder().decode(bytes);
  const decoded: unknown = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  const message = normalizeMessage(decoded as TransactionMessage | Version1Message);
  const emptySignature = new Uint8Array(64);
  const signatures = Object.values(transaction.signatures).map((signature) =>
    getBase58Decoder().decode(signature ?? emptySignature),
  );
  const loadedAddresses = loadAddresses(svm, message.addressTableLookups ?? []);
  const { header, staticAccounts } = message;
  const writableStatic = staticAccounts.filter((_, index) =>
    index < header.numSignerAccounts
      ? index < header.numSignerAccounts - header.numReadonlySignerAccounts
      : index < staticAccounts.length - header.numReadonlyNonSignerAccounts,
  );
  return {
    signature: signatures[0] ?? "",
    signatures,
    bytes,
    transaction,
    message,
    loadedAddresses,
    keys: [...staticAccounts, ...loadedAddresses.writable, ...loadedAddresses.readonly],
    writableKeys: [...writableStatic, ...loadedAddresses.writable],
  };
};

const normalizeMessage = (message: TransactionMessage | Version1Message): TransactionMessage => {
  if ("instructions" in message) return message;
  const { instructionHeaders, instructionPayloads, ...otherFields } = message;
  const instructions = instructionHeaders.map(({ programAccountIndex }, index) => {
    const payload = instructionPayloads[index];
    return {
      programAddressIndex: programAccountIndex,
      accountIndices: payload?.instructionAccountIndices ?? [],
      data: payload?.instructionData ?? new Uint8Array(),
    };
  });
  return { ...otherFields, instructions };
};

const tableHeaderBytes = 56;
const addressBytes = 32;

/**
 * Returns the addresses that the VM will find in the lookup tables. Missing addresses are left out,
 * because the VM itself rejects them.
 */
const loadAddresses = (svm: LiteSVM, lookups: readonly TableLookup[]) => {
  const load = (kind: "writableIndexes" | "readonlyIndexes"): Address[] =>
    lookups.flatMap((lookup) => {
      const table = readAccount(svm, lookup.lookupTableAddress)?.data ?? new Uint8Array();
      return lookup[kind].flatMap((index) => {
        const offset = tableHeaderBytes + index * addressBytes;
        const isPresent = offset + addressBytes <= table.length;
        return isPresent ? [getAddressCodec().decode(table, offset)] : [];
      });
    });
  return { writable: load("writableIndexes"), readonly: load("readonlyIndexes") };
};

/**
 * Executes a transaction. Returns the result that a block would contain. If no block can contain
 * the transaction, returns the reason and changes nothing.
 */
export const executeTransaction = (
  svm: LiteSVM,
  { transaction, keys }: DecodedTransaction,
): { execution: Execution } | { refusedFor: TransactionError } => {
  const accountsBefore = keys.map((key) => readAccount(svm, key));
  const preTokenBalances = listTokenBalances(svm, keys, accountsBefore);
  const result = svm.sendTransaction(transaction);
  const accountsAfter = keys.map((key) => readAccount(svm, key));
  const [preBalances, postBalances] = [listLamports(accountsBefore), listLamports(accountsAfter)];
  const err = result instanceof FailedTransactionMetadata ? decodeTransactionError(result) : null;
  // A failed transaction in a block still pays the fee. If the payer's balance is unchanged, the VM
  // rejected the transaction, so no block contains it.
  if (err !== null && preBalances[0] === postBalances[0]) return { refusedFor: err };
  const meta = result instanceof FailedTransactionMetadata ? result.meta() : result;
  return {
    execution: {
      err,
      // Apart from the fee, lamports only move between accounts.
      fee: sum(preBalances) - sum(postBalances),
      preBalances,
      postBalances,
      preTokenBalances,
      postTokenBalances: listTokenBalances(svm, keys, accountsAfter),
      innerInstructions: readInnerInstructions(meta),
      logs: meta.logs(),
      computeUnits: meta.computeUnitsConsumed(),
    },
  };
};

const listLamports = (accounts: readonly (StoredAccount | undefined)[]): bigint[] =>
  accounts.map((account) => account?.lamports ?? 0n);

const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n);

const listTokenBalances = (
  svm: LiteSVM,
  keys: readonly Address[],
  accounts: readonly (StoredAccount | undefined)[],
): TokenBalance[] =>
  accounts.flatMap((account, accountIndex) => {
    const holding = decodeHolding(account);
    if (holding === undefined || account === undefined) return [];
    const { mint, owner, amount } = holding;
    const decimals = decodeDecimals(readAccount(svm, mint)) ?? 0;
    const uiTokenAmount = serializeTokenAmount(amount, decimals);
    return [{ accountIndex, mint, owner, programId: account.owner, uiTokenAmount }];
  });

const readInnerInstructions = (meta: TransactionMetadata): Execution["innerInstructions"] =>
  meta.innerInstructions().flatMap((inner, index) => {
    const instructions = inner.map((innerInstruction) => {
      const instruction = innerInstruction.instruction();
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: getBase58Decoder().decode(instruction.data()),
        stackHeight: innerInstruction.stackHeight(),
      };
    });
    return instructions.length === 0 ? [] : [{ index, instructions }];
  });
