import { createHash } from "node:crypto";
import {
  AccountRole,
  type Address,
  type AddressesByLookupTableAddress,
  type Blockhash,
  type Instruction,
  type KeyPairSigner,
  type TransactionSigner,
  address,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getAddressEncoder,
  getSignatureFromTransaction,
  getTransactionDecoder,
  getTransactionEncoder,
  pipe,
  setTransactionMessageConfig,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransaction as signWholeTransaction,
  signTransactionMessageWithSigners,
} from "@solana/kit";

const systemProgram = address("11111111111111111111111111111111");
const memoProgram = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
const computeBudget = address("ComputeBudget111111111111111111111111111111");

/**
 * Creates a key pair that is the same in every run, so the addresses on a development chain do not
 * change.
 */
export const createSigner = async (name: string): Promise<KeyPairSigner> =>
  await createKeyPairSignerFromPrivateKeyBytes(
    new Uint8Array(createHash("sha256").update(`local solana: ${name}`).digest()),
  );

/** A signed transaction with its first signature. */
export type SignedTransaction = { signature: string; bytes: Uint8Array };

/**
 * Signs instructions as a versioned transaction if there are lookup tables, and as a legacy
 * transaction otherwise.
 */
export const signTransaction = async ({
  payer,
  instructions,
  blockhash,
  tables,
}: {
  payer: TransactionSigner;
  instructions: readonly Instruction[];
  blockhash: string;
  tables?: AddressesByLookupTableAddress;
}): Promise<SignedTransaction> => {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(toLifetime(blockhash), draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
  );
  return toSignedTransaction(
    await signTransactionMessageWithSigners(
      tables === undefined
        ? ({ ...message, version: "legacy" } as unknown as typeof message)
        : compressTransactionMessageUsingAddressLookupTables(message, tables),
    ),
  );
};

const toLifetime = (blockhash: string) => ({
  blockhash: blockhash as Blockhash,
  lastValidBlockHeight: 2n ** 62n,
});

const toSignedTransaction = (
  transaction: Parameters<typeof getSignatureFromTransaction>[0],
): SignedTransaction => ({
  signature: getSignatureFromTransaction(transaction),
  bytes: new Uint8Array(getTransactionEncoder().encode(transaction)),
});

/** Signs a transaction that was built elsewhere. Throws if it also needs another signature. */
export const signEncodedTransaction = async (
  encodedTransaction: string,
  { keyPair }: KeyPairSigner,
): Promise<SignedTransaction> => {
  const unsigned = getTransactionDecoder().decode(Buffer.from(encodedTransaction, "base64"));
  return toSignedTransaction(await signWholeTransaction([keyPair], unsigned));
};

/**
 * Signs instructions as a transaction of version 1. Such a transaction contains its compute limits
 * (SIMD-0385).
 */
export const signVersion1Transaction = async ({
  payer,
  instructions,
  blockhash,
  serial,
}: {
  payer: TransactionSigner;
  instructions: readonly Instruction[];
  blockhash: string;
  serial: number;
}): Promise<SignedTransaction> => {
  const config = {
    computeUnitLimit: unitsPerTransaction + serial,
    loadedAccountsDataSizeLimit: loadedAccountBytesMax,
  };
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (draft) => setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(toLifetime(blockhash), draft),
    (draft) => setTransactionMessageConfig(config, draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
  );
  return toSignedTransaction(await signTransactionMessageWithSigners(message));
};

/**
 * Adds keys to an instruction, so the chain's indexes find the transaction by these keys. They are
 * read-only and do not sign.
 */
export const withReferences = (
  instruction: Instruction,
  references: readonly string[],
): Instruction => ({
  ...instruction,
  accounts: [
    ...(instruction.accounts ?? []),
    ...references.map((reference) => ({
      address: address(reference),
      role: AccountRole.READONLY as const,
    })),
  ],
});

/** Creates the system program's `CreateAccount` instruction. */
export const createAccountInstruction = (options: {
  payer: TransactionSigner;
  account: TransactionSigner;
  lamports: bigint;
  bytes: number;
  owner: Address;
}): Instruction => {
  const data = Buffer.alloc(52);
  data.writeBigUInt64LE(options.lamports, 4);
  data.writeBigUInt64LE(BigInt(options.bytes), 12);
  data.set(getAddressEncoder().encode(options.owner), 20);
  const role = AccountRole.WRITABLE_SIGNER as const;
  const accounts = [options.payer, options.account].map((signer) => ({
    address: signer.address,
    role,
    signer,
  }));
  return { programAddress: systemProgram, accounts, data: new Uint8Array(data) };
};

/** Creates the system program's `Transfer` instruction, which transfers SOL. */
export const createLamportTransferInstruction = (options: {
  from: TransactionSigner;
  to: string;
  lamports: bigint;
}): Instruction => {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(2, 0);
  data.writeBigUInt64LE(options.lamports, 4);
  return {
    programAddress: systemProgram,
    accounts: [
      {
        address: options.from.address,
        role: AccountRole.WRITABLE_SIGNER,
        signer: options.from,
      } as never,
      { address: address(options.to), role: AccountRole.WRITABLE },
    ],
    data: new Uint8Array(data),
  };
};

export const createMemoInstruction = (text: string): Instruction => ({
  programAddress: memoProgram,
  data: new TextEncoder().encode(text),
});

const unitsPerTransaction = 800_000;
const loadedAccountBytesMax = 64 * 1024 * 1024;

/**
 * Limits a transaction's compute units, as wallets do. The limit differs each time, so two
 * otherwise identical payments have different signatures.
 */
export const createUnitLimitInstruction = (serial: number): Instruction => {
  const data = Buffer.alloc(5);
  data.writeUInt8(2, 0);
  data.writeUInt32LE(unitsPerTransaction + serial, 1);
  return { programAddress: computeBudget, data: new Uint8Array(data) };
};
