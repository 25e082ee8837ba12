import { decodeBase58 } from "@payment-links/contracts";

/** An instruction of a transaction or of a program that it called: keys by their place. */
export type SolanaInstruction = {
  programIndex: number;
  accountIndexes: readonly number[];
  /** In base58. */
  data: string;
};

/** What one transfer of a token program moves: accounts by their place among the keys. */
type TokenMovement = {
  /** Undefined where the tokens are made. */
  sourceIndex: number | undefined;
  destinationIndex: number;
  amount: bigint;
  /** The keys that follow on those that the transfer needs. */
  extraAccountIndexes: readonly number[];
};

const transferInstruction = 3;
const mintToInstruction = 7;
const transferCheckedInstruction = 12;
const mintToCheckedInstruction = 14;
const transferFeeExtension = 26;
const transferCheckedWithFeeInstruction = 1;
const batchInstruction = 255;
/** What base58 can hold that is read at all; 1,232 bytes, as long as a transaction is, take 1,683. */
const dataCharactersMax = 4_096;

/**
 * Reads the transfers of a token program's instruction, or how it makes tokens; none where it is neither.
 * What follows on the bytes that a kind needs is passed over, as the program does.
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
 * The instructions that a batch runs one after another, none of them a batch (SIMD-0266): of each the number
 * of its accounts, that of its bytes, and these. Nodes list none of them among the inner instructions.
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

/** Source, the mint where it is named, destination, who allows it, and what follows. */
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

/** The mint, and where tokens are made. No payment is made of them: whatever follows names no link. */
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
