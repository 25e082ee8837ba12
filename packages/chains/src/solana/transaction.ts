import { decodeBase58 } from "./address.ts";
import {
  type TokenProgram,
  deriveAssociatedTokenAccount,
  solanaTokenPrograms,
} from "./token-account.ts";

/** A token payment on Solana. All keys are base58 addresses. */
type SolanaPayment = {
  payer: string;
  /** The owner's wallet. */
  recipient: string;
  mint: string;
  tokenProgram: TokenProgram;
  /** In base units, at most 64 bits. */
  amount: bigint;
  decimals: number;
  /** The key that identifies the link. A refund has none, because it pays no link. */
  reference?: string;
  /** At most 127 bytes of ASCII. */
  memo: string;
  /** Whether the owner's token account exists. If not, the payer's transaction creates it. */
  isOwnerReady: boolean;
  blockhash: string;
};

type Instruction = {
  program: string;
  accounts: readonly { key: string; isWritable: boolean }[];
  data: Uint8Array;
};

const systemProgram = "11111111111111111111111111111111";
const associatedTokenProgram = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const memoProgram = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";

/**
 * Encodes a payment as an unsigned version 0 transaction in base64. Only the payer signs it. Its
 * last two instructions are the memo and the transfer, in this order (Solana Pay 1.1).
 */
export const encodeSolanaPayment = (payment: SolanaPayment): string => {
  const { blockhash, isOwnerReady, mint, payer, recipient } = payment;
  const program = solanaTokenPrograms[payment.tokenProgram];
  const [from, to] = [payer, recipient].map((owner) =>
    deriveAssociatedTokenAccount({ owner, mint, program }),
  );
  if (from === undefined || to === undefined)
    throw new Error("could not derive the token accounts");
  const message = encodeMessage({ payer, blockhash }, [
    ...(isOwnerReady
      ? []
      : [createTokenAccountInstruction({ payer, account: to, owner: recipient, mint, program })]),
    { program: memoProgram, accounts: [], data: Buffer.from(payment.memo, "ascii") },
    createTransferInstruction(payment, { from, to, program }),
  ]);
  const emptySignatures = Buffer.alloc(1 + signatureBytes);
  emptySignatures[0] = 1;
  return Buffer.concat([emptySignatures, message]).toString("base64");
};

const signatureBytes = 64;
const createIdempotentOpcode = 1;
const transferCheckedOpcode = 12;

const readonlyAccount = (key: string) => ({ key, isWritable: false });
const writableAccount = (key: string) => ({ key, isWritable: true });

/** Creates a token account. The instruction has no effect if the account already exists. */
const createTokenAccountInstruction = (
  addresses: Record<"payer" | "account" | "owner" | "mint" | "program", string>,
): Instruction => ({
  program: associatedTokenProgram,
  accounts: [
    writableAccount(addresses.payer),
    writableAccount(addresses.account),
    readonlyAccount(addresses.owner),
    readonlyAccount(addresses.mint),
    readonlyAccount(systemProgram),
    readonlyAccount(addresses.program),
  ],
  data: Uint8Array.of(createIdempotentOpcode),
});

const createTransferInstruction = (
  { payer, mint, amount, decimals, reference }: SolanaPayment,
  { from, to, program }: Record<"from" | "to" | "program", string>,
): Instruction => {
  const data = Buffer.alloc(10);
  data[0] = transferCheckedOpcode;
  data.writeBigUInt64LE(amount, 1);
  data[9] = decimals;
  const accounts = [
    writableAccount(from),
    readonlyAccount(mint),
    writableAccount(to),
    writableAccount(payer),
    ...(reference === undefined ? [] : [readonlyAccount(reference)]),
  ];
  return { program, accounts, data };
};

const version0Prefix = 0x80;

/**
 * Encodes a message. The payer's key comes first because only the payer signs. Writable accounts
 * come before read-only ones.
 */
const encodeMessage = (
  { payer, blockhash }: { payer: string; blockhash: string },
  instructions: readonly Instruction[],
): Buffer => {
  const accountMetas = instructions.flatMap(({ accounts, program }) => [
    ...accounts,
    readonlyAccount(program),
  ]);
  const writableKeys = accountMetas.filter(({ isWritable }) => isWritable).map(({ key }) => key);
  const keys = [...new Set([payer, ...writableKeys, ...accountMetas.map(({ key }) => key)])];
  const readOnlyCount = keys.length - new Set([payer, ...writableKeys]).size;
  const indexOfKey = (key: string): number => keys.indexOf(key);
  return Buffer.concat([
    Uint8Array.of(version0Prefix, 1, 0, readOnlyCount),
    encodeLength(keys),
    ...keys.map(decodeKey),
    decodeKey(blockhash),
    encodeLength(instructions),
    ...instructions.flatMap(({ accounts, data, program }) => [
      Uint8Array.of(indexOfKey(program)),
      encodeLength(accounts),
      Uint8Array.from(accounts, ({ key }) => indexOfKey(key)),
      encodeLength(data),
      data,
    ]),
    // No address lookup tables.
    Uint8Array.of(0),
  ]);
};

/** The maximum length of an array. A longer one would need a second byte for its length. */
const encodedLengthMax = 127;

const encodeLength = ({ length }: { readonly length: number }): Uint8Array => {
  if (length > encodedLengthMax)
    throw new RangeError(`length ${length} exceeds ${encodedLengthMax}`);
  return Uint8Array.of(length);
};

const keyLength = 32;
const keyCharsMax = 44;

const decodeKey = (key: string): Uint8Array => {
  const bytes = decodeBase58(key, keyCharsMax);
  if (bytes?.length !== keyLength) throw new RangeError(`${key} is not a Solana public key`);
  return bytes;
};
