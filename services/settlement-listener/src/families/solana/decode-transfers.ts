import { readBase58 } from "@payment-links/contracts";

/** An instruction of a transaction or of a program that it called: keys by their place. */
export type SolanaInstruction = {
  programIndex: number;
  accountIndexes: readonly number[];
  /** In base58. */
  data: string;
};

/** What one transfer of a token program moves: accounts by their place among the keys. */
type Moved = {
  /** Undefined where the tokens are made. */
  sourceIndex: number | undefined;
  destinationIndex: number;
  amount: bigint;
  /** The keys that follow on those that the transfer needs. */
  restIndexes: readonly number[];
};

const transfer = 3;
const mintTo = 7;
const transferChecked = 12;
const mintToChecked = 14;
const feeExtension = 26;
const transferCheckedWithFee = 1;
const batch = 255;
/** What base58 can hold that is read at all; 1,232 bytes, as long as a transaction is, take 1,683. */
const dataCharactersMax = 4_096;

/**
 * Reads the transfers of a token program's instruction, or how it makes tokens; none where it is neither.
 * What follows on the bytes that a kind needs is passed over, as the program does.
 */
export const decodeTransfers = ({ accountIndexes, data }: SolanaInstruction): readonly Moved[] => {
  const bytes = readBase58(data, dataCharactersMax);
  if (bytes === undefined) return [];
  const parts =
    bytes[0] === batch ? splitBatch(accountIndexes, bytes) : [{ accountIndexes, bytes }];
  return parts.flatMap((part) => decodeTransfer(part) ?? []);
};

type Part = { accountIndexes: readonly number[]; bytes: Uint8Array };

/**
 * The instructions that a batch runs one after another, none of them a batch (SIMD-0266): of each the number
 * of its accounts, that of its bytes, and these. Nodes list none of them among the inner instructions.
 */
const splitBatch = (accountIndexes: readonly number[], bytes: Uint8Array): readonly Part[] => {
  const parts: Part[] = [];
  let account = 0;
  for (let at = 1; at + 1 < bytes.length;) {
    const [accountCount = 0, byteCount = 0] = bytes.subarray(at, at + 2);
    const from = at + 2;
    at = from + byteCount;
    parts.push({
      accountIndexes: accountIndexes.slice(account, account + accountCount),
      bytes: bytes.subarray(from, at),
    });
    account += accountCount;
  }
  return parts;
};

const decodeTransfer = ({ accountIndexes, bytes }: Part): Moved | undefined => {
  const [kind, subkind] = bytes;
  if (kind === transfer) return readMoved(accountIndexes, bytes, { from: 1, hasMint: false });
  if (kind === transferChecked) return readMoved(accountIndexes, bytes, { from: 1, hasMint: true });
  if (kind === mintTo || kind === mintToChecked) return readMade(accountIndexes, bytes);
  return kind === feeExtension && subkind === transferCheckedWithFee
    ? readMoved(accountIndexes, bytes, { from: 2, hasMint: true })
    : undefined;
};

const amountBytes = 8;

/** Source, the mint where it is named, destination, who allows it, and what follows. */
const readMoved = (
  [sourceIndex, ...following]: readonly number[],
  bytes: Uint8Array,
  { from, hasMint }: { from: number; hasMint: boolean },
): Moved | undefined => {
  const [destinationIndex, authority, ...restIndexes] = hasMint ? following.slice(1) : following;
  if (bytes.length < from + amountBytes) return undefined;
  if (sourceIndex === undefined || destinationIndex === undefined || authority === undefined) {
    return undefined;
  }
  return { sourceIndex, destinationIndex, restIndexes, amount: readAmount(bytes, from) };
};

/** The mint, and where tokens are made. No payment is made of them: whatever follows names no link. */
const readMade = ([, destinationIndex]: readonly number[], bytes: Uint8Array): Moved | undefined =>
  destinationIndex === undefined || bytes.length < 1 + amountBytes
    ? undefined
    : { sourceIndex: undefined, destinationIndex, restIndexes: [], amount: readAmount(bytes, 1) };

const readAmount = (bytes: Uint8Array, from: number): bigint =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(from, true);
