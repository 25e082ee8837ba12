import { readBase58, solanaTokenAccount, solanaTokenPrograms } from "@payment-links/contracts";

/** A payment of a token on Solana. All keys are addresses. */
type SolanaPayment = {
  payer: string;
  /** The owner's wallet. */
  recipient: string;
  mint: string;
  tokenProgram: keyof typeof solanaTokenPrograms;
  /** In base units, at most 64 bits. */
  amount: bigint;
  decimals: number;
  /** The key that names the link. */
  reference: string;
  /** At most 127 bytes of ASCII. */
  memo: string;
  /** Whether the owner's token account is there; if not, the payer makes it. */
  isOwnerReady: boolean;
  blockhash: string;
};

type Instruction = {
  program: string;
  accounts: readonly { key: string; isWritable: boolean }[];
  data: Uint8Array;
};

const systemProgram = "11111111111111111111111111111111";
const accountProgram = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const memoProgram = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";

/**
 * A payment as an unsigned transaction of version 0 in base64, for the payer's one signature. Its last
 * two instructions are the memo and the transfer, in this order (Solana Pay 1.1).
 */
export const encodeSolanaPayment = (payment: SolanaPayment): string => {
  const { blockhash, isOwnerReady, mint, payer, recipient } = payment;
  const program = solanaTokenPrograms[payment.tokenProgram];
  const [from, to] = [payer, recipient].map((owner) =>
    solanaTokenAccount({ owner, mint, program }),
  );
  if (from === undefined || to === undefined) throw new Error("two accounts were derived");
  const message = encodeMessage({ payer, blockhash }, [
    ...(isOwnerReady ? [] : [makeAccount({ payer, account: to, owner: recipient, mint, program })]),
    { program: memoProgram, accounts: [], data: Buffer.from(payment.memo, "ascii") },
    transferChecked(payment, { from, to, program }),
  ]);
  const unsigned = Buffer.alloc(1 + signatureBytes);
  unsigned[0] = 1;
  return Buffer.concat([unsigned, message]).toString("base64");
};

const signatureBytes = 64;
const createIdempotent = 1;
const transferCheckedKind = 12;

const readable = (key: string) => ({ key, isWritable: false });
const writable = (key: string) => ({ key, isWritable: true });

/** Does nothing where somebody else was faster. */
const makeAccount = (
  order: Record<"payer" | "account" | "owner" | "mint" | "program", string>,
): Instruction => ({
  program: accountProgram,
  accounts: [
    writable(order.payer),
    writable(order.account),
    readable(order.owner),
    readable(order.mint),
    readable(systemProgram),
    readable(order.program),
  ],
  data: Uint8Array.of(createIdempotent),
});

const transferChecked = (
  { payer, mint, amount, decimals, reference }: SolanaPayment,
  { from, to, program }: Record<"from" | "to" | "program", string>,
): Instruction => {
  const data = Buffer.alloc(10);
  data[0] = transferCheckedKind;
  data.writeBigUInt64LE(amount, 1);
  data[9] = decimals;
  const accounts = [
    writable(from),
    readable(mint),
    writable(to),
    writable(payer),
    readable(reference),
  ];
  return { program, accounts, data };
};

const version0 = 0x80;

/** The payer alone signs, so its key stands first; what is written to stands before the rest. */
const encodeMessage = (
  { payer, blockhash }: { payer: string; blockhash: string },
  instructions: readonly Instruction[],
): Buffer => {
  const named = instructions.flatMap(({ accounts, program }) => [...accounts, readable(program)]);
  const written = named.filter(({ isWritable }) => isWritable).map(({ key }) => key);
  const keys = [...new Set([payer, ...written, ...named.map(({ key }) => key)])];
  const readOnlyCount = keys.length - new Set([payer, ...written]).size;
  const placeOf = (key: string): number => keys.indexOf(key);
  return Buffer.concat([
    Uint8Array.of(version0, 1, 0, readOnlyCount),
    countOf(keys),
    ...keys.map(keyBytes),
    keyBytes(blockhash),
    countOf(instructions),
    ...instructions.flatMap(({ accounts, data, program }) => [
      Uint8Array.of(placeOf(program)),
      countOf(accounts),
      Uint8Array.from(accounts, ({ key }) => placeOf(key)),
      countOf(data),
      data,
    ]),
    // No look-up tables.
    Uint8Array.of(0),
  ]);
};

/** Longer ones would take a second byte. */
const countMax = 127;

const countOf = ({ length }: { readonly length: number }): Uint8Array => {
  if (length > countMax) throw new RangeError(`${length} is more than ${countMax}`);
  return Uint8Array.of(length);
};

const keyBytesCount = 32;
const keyCharsMax = 44;

const keyBytes = (key: string): Uint8Array => {
  const bytes = readBase58(key, keyCharsMax);
  if (bytes?.length !== keyBytesCount) throw new RangeError(`${key} is no key of Solana`);
  return bytes;
};
