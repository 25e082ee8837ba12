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

/** A key pair that is the same each time, so that a development chain keeps its addresses. */
export const openSigner = async (name: string): Promise<KeyPairSigner> =>
  await createKeyPairSignerFromPrivateKeyBytes(
    new Uint8Array(createHash("sha256").update(`local solana: ${name}`).digest()),
  );

/** A transaction that is signed, and its first signature. */
export type Signed = { signature: string; bytes: Uint8Array };

/** Signs instructions; with look-up tables as a versioned transaction, else as a legacy one. */
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
}): Promise<Signed> => {
  const filled = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetimeOf(blockhash), draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
  );
  return signedOf(
    await signTransactionMessageWithSigners(
      tables === undefined
        ? ({ ...filled, version: "legacy" } as unknown as typeof filled)
        : compressTransactionMessageUsingAddressLookupTables(filled, tables),
    ),
  );
};

const lifetimeOf = (blockhash: string) => ({
  blockhash: blockhash as Blockhash,
  lastValidBlockHeight: 2n ** 62n,
});

const signedOf = (transaction: Parameters<typeof getSignatureFromTransaction>[0]): Signed => ({
  signature: getSignatureFromTransaction(transaction),
  bytes: new Uint8Array(getTransactionEncoder().encode(transaction)),
});

/** Signs a transaction that was made elsewhere; throws where it asks for another's signature too. */
export const signGiven = async (text: string, { keyPair }: KeyPairSigner): Promise<Signed> => {
  const unsigned = getTransactionDecoder().decode(Buffer.from(text, "base64"));
  return signedOf(await signWholeTransaction([keyPair], unsigned));
};

/** Signs instructions as a transaction of version 1, which bounds its work itself (SIMD-0385). */
export const signNewest = async ({
  payer,
  instructions,
  blockhash,
  serial,
}: {
  payer: TransactionSigner;
  instructions: readonly Instruction[];
  blockhash: string;
  serial: number;
}): Promise<Signed> => {
  const config = {
    computeUnitLimit: unitsPerTransaction + serial,
    loadedAccountsDataSizeLimit: loadedBytesMax,
  };
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (draft) => setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetimeOf(blockhash), draft),
    (draft) => setTransactionMessageConfig(config, draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
  );
  return signedOf(await signTransactionMessageWithSigners(message));
};

/** Names keys that the chain's indexes shall find a transaction by: read-only, no signers. */
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

/** The system program's `CreateAccount`. */
export const createAccount = (order: {
  payer: TransactionSigner;
  account: TransactionSigner;
  lamports: bigint;
  bytes: number;
  owner: Address;
}): Instruction => {
  const data = Buffer.alloc(52);
  data.writeBigUInt64LE(order.lamports, 4);
  data.writeBigUInt64LE(BigInt(order.bytes), 12);
  data.set(getAddressEncoder().encode(order.owner), 20);
  const role = AccountRole.WRITABLE_SIGNER as const;
  const accounts = [order.payer, order.account].map((signer) => ({
    address: signer.address,
    role,
    signer,
  }));
  return { programAddress: systemProgram, accounts, data: new Uint8Array(data) };
};

/** The system program's `Transfer` of the chain's own coin. */
export const transferLamports = (order: {
  from: TransactionSigner;
  to: string;
  lamports: bigint;
}): Instruction => {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(2, 0);
  data.writeBigUInt64LE(order.lamports, 4);
  return {
    programAddress: systemProgram,
    accounts: [
      {
        address: order.from.address,
        role: AccountRole.WRITABLE_SIGNER,
        signer: order.from,
      } as never,
      { address: address(order.to), role: AccountRole.WRITABLE },
    ],
    data: new Uint8Array(data),
  };
};

/** A memo. */
export const writeMemo = (text: string): Instruction => ({
  programAddress: memoProgram,
  data: new TextEncoder().encode(text),
});

const unitsPerTransaction = 800_000;
const loadedBytesMax = 64 * 1024 * 1024;

/**
 * Bounds a transaction's work, as wallets do. The bound differs each time: two payments that are
 * the same in all else are two transactions.
 */
export const limitUnits = (serial: number): Instruction => {
  const data = Buffer.alloc(5);
  data.writeUInt8(2, 0);
  data.writeUInt32LE(unitsPerTransaction + serial, 1);
  return { programAddress: computeBudget, data: new Uint8Array(data) };
};
