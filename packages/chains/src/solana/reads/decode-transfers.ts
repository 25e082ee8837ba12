import { decodeBase58 } from "../address.ts";

/**
 * An instruction of a transaction, or one that a program called (an inner instruction). Accounts
 * are indexes into the transaction's keys.
 */
export type SolanaInstruction = {
  programIndex: number;
  accountIndexes: readonly number[];
  /** In base58. */
  data: string;
};

/** A transfer by a token program. Accounts are indexes into the transaction's keys. */
type TokenMovement = {
  /** Undefined if the tokens are minted instead of transferred. */
  sourceIndex: number | undefined;
  destinationIndex: number;
  amount: bigint;
  /** The extra keys, after those that the transfer itself uses. */
  extraAccountIndexes: readonly number[];
};

const transferInstruction = 3;
const mintToInstruction = 7;
const transferCheckedInstruction = 12;
const mintToCheckedInstruction = 14;
const transferFeeExtension = 26;
const transferCheckedWithFeeInstruction = 1;
const batchInstruction = 255;
/**
 * The maximum length of base58 to decode. A transaction has at most 1,232 bytes, which are 1,683
 * base58 characters.
 */
const dataCharactersMax = 4_096;

/**
 * Decodes the transfers and mints in a token program's instruction. Returns an empty list for any
 * other instruction. Like the program, it ignores additional bytes at the end.
 */
export const decodeTransfers = ({
  accountIndexes,
  data,
}: SolanaInstruction): readonly TokenMovement[] => {
  const bytes = decodeBase58(data, dataCharactersMax);
  if (bytes === undefined) return [];
  const rawInstructions =
    bytes[0] === batchInstruction ? splitBatch(accountIndexes, bytes) : [{ accountIndexes, bytes }];
  return rawInstructions.flatMap((rawInstruction) => decodeTransfer(rawInstruction) ?? []);
};

type RawInstruction = { accountIndexes: readonly number[]; bytes: Uint8Array };

/**
 * Splits a batch into the instructions that it runs in order. A batch cannot contain another batch
 * (SIMD-0266). Each instruction is encoded as its number of accounts, its number of bytes, and its
 * bytes. Nodes do not list them as inner instructions.
 */
const splitBatch = (
  accountIndexes: readonly number[],
  bytes: Uint8Array,
): readonly RawInstruction[] => {
  const rawInstructions: RawInstruction[] = [];
  let accountOffset = 0;
  for (let offset = 1; offset + 1 < bytes.length;) {
    const [accountCount = 0, byteCount = 0] = bytes.subarray(offset, offset + 2);
    const start = offset + 2;
    offset = start + byteCount;
    rawInstructions.push({
      accountIndexes: accountIndexes.slice(accountOffset, accountOffset + accountCount),
      bytes: bytes.subarray(start, offset),
    });
    accountOffset += accountCount;
  }
  return rawInstructions;
};

const decodeTransfer = ({ accountIndexes, bytes }: RawInstruction): TokenMovement | undefined => {
  const [kind, subkind] = bytes;
  if (kind === transferInstruction)
    return parseMovement(accountIndexes, bytes, { amountOffset: 1, hasMint: false });
  if (kind === transferCheckedInstruction)
    return parseMovement(accountIndexes, bytes, { amountOffset: 1, hasMint: true });
  if (kind === mintToInstruction || kind === mintToCheckedInstruction)
    return parseMint(accountIndexes, bytes);
  return kind === transferFeeExtension && subkind === transferCheckedWithFeeInstruction
    ? parseMovement(accountIndexes, bytes, { amountOffset: 2, hasMint: true })
    : undefined;
};

const amountBytes = 8;

/**
 * Parses a transfer's accounts: the source, the mint (if the instruction includes it), the
 * destination, the authority, and any extra keys.
 */
const parseMovement = (
  [sourceIndex, ...followingIndexes]: readonly number[],
  bytes: Uint8Array,
  { amountOffset, hasMint }: { amountOffset: number; hasMint: boolean },
): TokenMovement | undefined => {
  const [destinationIndex, authority, ...extraAccountIndexes] = hasMint
    ? followingIndexes.slice(1)
    : followingIndexes;
  if (bytes.length < amountOffset + amountBytes) return undefined;
  if (sourceIndex === undefined || destinationIndex === undefined || authority === undefined) {
    return undefined;
  }
  return {
    sourceIndex,
    destinationIndex,
    extraAccountIndexes,
    amount: parseAmount(bytes, amountOffset),
  };
};

/**
 * Parses a mint instruction's accounts: the mint and the destination. Minted tokens are never a
 * payment, so extra keys do not identify a link.
 */
const parseMint = (
  [, destinationIndex]: readonly number[],
  bytes: Uint8Array,
): TokenMovement | undefined =>
  destinationIndex === undefined || bytes.length < 1 + amountBytes
    ? undefined
    : {
        sourceIndex: undefined,
        destinationIndex,
        extraAccountIndexes: [],
        amount: parseAmount(bytes, 1),
      };

const parseAmount = (bytes: Uint8Array, offset: number): bigint =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(offset, true);
