import type { ChainTransfer } from "../../domain/chain-transfer.ts";
import type { ScanPlan, FinalityLines } from "../../domain/plan-scan.ts";
import type { ScannedBlock } from "../../store/chain-blocks.ts";
import { blockOf, instantOf } from "../chain/block-of.ts";
import { ChainMovedError, type WatchContext } from "../chain/watch-context.ts";
import { agreeOnSenders } from "../agreement/agree-on-senders.ts";
import { type BlockHeader, type ChainReader, ChainUnreachableError } from "../chain-reader.ts";
import { type Piece, cutPointers } from "../transfers/cut-pointers.ts";
import { findTransfers, readTimes } from "../transfers/find-transfers.ts";

/**
 * What is committed at once: blocks, the last of which the checkpoint moves to, and what was in
 * them.
 */
export type Scanned = {
  blocks: readonly ScannedBlock[];
  transfers: readonly ChainTransfer[];
  /** The id of the provider that gave the pointers. */
  readBy: string;
};

type Commit = (scanned: Scanned) => Promise<void>;
type Range = { fromBlock: number; toBlock: number };

/**
 * Reads what the plan asks for and has it committed in pieces, in order: the next piece is read
 * while one is committed. `headers` begin with the tip. Throws {@link ChainMovedError} where the
 * node's answers are of two chains; what was committed by then stands.
 */
export const scanBlocks = async (
  watch: WatchContext,
  {
    plan,
    headers,
    lines,
  }: { plan: ScanPlan; headers: readonly BlockHeader[]; lines: FinalityLines },
  commit: Commit,
): Promise<void> => {
  switch (plan.kind) {
    case "none":
      return;
    case "final":
      return scanFinal(watch, { range: plan, lines }, commit);
    case "sparse":
      return commitInTurn(readSparse(watch, plan, lines), commit);
    case "fresh":
      return scanFresh(watch, { headers, lines }, commit);
  }
};

/**
 * Scans final blocks, in wide ranges and without their headers. Only the last block of each piece
 * is stored: what follows is held against it.
 */
const scanFinal = async (
  watch: WatchContext,
  { range, lines }: { range: Range; lines: FinalityLines },
  commit: Commit,
): Promise<void> => commitInTurn(readFinal(watch, range, lines), commit);

/** Reads as far as the plan goes, which bounds it. */
async function* readFinal(
  watch: WatchContext,
  { fromBlock, toBlock }: Range,
  lines: FinalityLines,
): AsyncGenerator<Scanned> {
  const { reader } = watch;
  let before: BlockHeader | undefined;
  let next = fromBlock;
  while (next <= toBlock) {
    if (before !== undefined) await checkStands(reader, before);
    const { pointers, end, readBy } = await reader.readPointers({ fromBlock: next, toBlock });
    const times = await readTimes(reader, pointers);
    for (const piece of cutPointers(pointers, end.number)) {
      const read = { pointers: piece.pointers, times, lines };
      const transfers = await findBy(watch, readBy, read);
      const last = piece.endNumber === end.number ? end : await readEnd(reader, piece);
      yield { blocks: [blockOf(last)], transfers, readBy };
    }
    before = end;
    next = end.number + 1;
  }
}

/**
 * The same up to the head, of what may yet be taken away. What was left to this question may stand in
 * blocks before the range, so what it found is one piece.
 */
async function* readSparse(
  watch: WatchContext,
  { fromBlock, toBlock }: Range,
  lines: FinalityLines,
): AsyncGenerator<Scanned> {
  const { chain, reader } = watch;
  let before: BlockHeader | undefined;
  let next = fromBlock;
  while (next <= toBlock) {
    if (before !== undefined) await checkStands(reader, before);
    const endsAt = Math.min(toBlock, next + chain.settings.rangeBlocksMax - 1);
    const asked = { fromBlock: next, toBlock: endsAt };
    const { pointers, end, readBy } = await reader.readPointers(asked);
    const times = await readTimes(reader, pointers);
    const transfers = await findBy(watch, readBy, { pointers, times, lines });
    yield { blocks: [blockOf(end)], transfers: await addNonces(watch, transfers), readBy };
    before = end;
    next = end.number + 1;
  }
}

/**
 * Finds the transfers by the receipts of the provider that gave the pointers. What the first look misses is
 * then one provider's doing, and the audit, which is another's, finds it.
 */
const findBy = async (
  { chain, reader, unproved, witnesses }: WatchContext,
  readBy: string,
  read: Parameters<typeof findTransfers>[1],
): Promise<readonly ChainTransfer[]> => {
  const giver = witnesses.find(({ id }) => id === readBy);
  try {
    return await findTransfers(
      { chain, reader: giver?.reader ?? reader, listAwaited: unproved.listAwaited },
      read,
    );
  } catch (error) {
    if (witnesses.length === 1 || !(error instanceof ChainUnreachableError)) throw error;
    // Others may answer: all is read again, and by another one if it goes on.
    throw new ChainMovedError("who gave pointers gives no receipts of them now");
  }
};

/** Checks that a block still stands: the next range, read meanwhile, must be of the same chain. */
const checkStands = async (reader: ChainReader, { number, hash }: BlockHeader): Promise<void> => {
  const [header] = await reader.readHeaders({ fromBlock: number, toBlock: number });
  if (header?.hash !== hash) throw new ChainMovedError("a scanned block is not there now");
};

/**
 * Scans fresh blocks: headers that follow on the tip and on one another, and the pointers of just
 * these.
 */
const scanFresh = async (
  watch: WatchContext,
  {
    headers: [tip, ...following],
    lines,
  }: { headers: readonly BlockHeader[]; lines: FinalityLines },
  commit: Commit,
): Promise<void> => {
  const [first, last] = [following[0], following.at(-1)];
  if (tip === undefined || first === undefined || last === undefined) return;
  const { reader } = watch;
  checkLineage([tip, ...following]);
  const range = { fromBlock: first.number, toBlock: last.number, headers: following };
  const { pointers, end, readBy } = await reader.readPointers(range);
  const covered = following.filter((header) => header.number <= end.number);
  const hashes = new Map(covered.map((header) => [header.number, header.hash]));
  const areOfThese = pointers.every((log) => hashes.get(log.blockNumber) === log.blockHash);
  if (covered.at(-1)?.hash !== end.hash || !areOfThese) {
    throw new ChainMovedError("pointers and headers are of two chains");
  }
  const times = new Map(
    covered.map(({ number, timestampSeconds }) => [number, instantOf(timestampSeconds)]),
  );
  const blocks = covered.map(blockOf);
  const read = async function* (): AsyncGenerator<Scanned> {
    let above = tip.number;
    for (const { pointers: some, endNumber } of cutPointers(pointers, end.number)) {
      const transfers = await findBy(watch, readBy, { pointers: some, times, lines });
      const upTo = blocks.filter(({ number }) => number > above && number <= endNumber);
      yield { blocks: upTo, transfers: await addNonces(watch, transfers), readBy };
      above = endNumber;
    }
  };
  await commitInTurn(read(), commit);
};

/** Reads one piece ahead, while the one before it is being committed. */
const commitInTurn = async (read: AsyncGenerator<Scanned>, commit: Commit): Promise<void> => {
  let reading = read.next();
  for (;;) {
    const { done, value } = await reading;
    if (done === true) return;
    reading = read.next();
    // Nobody waits for it any more where the commit fails.
    reading.catch(() => {});
    await commit(value);
  }
};

/** The last block of a piece, which holds its last log. */
const readEnd = async (
  reader: ChainReader,
  { pointers, endNumber }: Piece,
): Promise<BlockHeader> => {
  const [header] = await reader.readHeaders({ fromBlock: endNumber, toBlock: endNumber });
  if (header === undefined || header.hash !== pointers.at(-1)?.blockHash) {
    throw new ChainMovedError("a pointer's block is not there now");
  }
  return header;
};

const checkLineage = (headers: readonly BlockHeader[]): void => {
  const isLineage = headers.every((header, index) => {
    const before = headers[index - 1];
    if (before === undefined) return true;
    return header.number === before.number + 1 && header.parentHash === before.hash;
  });
  if (!isLineage) throw new ChainMovedError("headers do not follow on one another");
};

/**
 * Adds the nonces of transfers that are not settled yet, and by the same word who sent them. A nonce
 * decides later whether a transaction that was taken away can still come back, so it is asked for while
 * the nodes know the transaction. One that is not told now is asked for again
 * (`second-pass/learn-nonces.ts`).
 */
const addNonces = async (
  watch: WatchContext,
  transfers: readonly ChainTransfer[],
): Promise<readonly ChainTransfer[]> => {
  const open = transfers.filter(({ state }) => state === "seen");
  const hashes = [...new Set(open.map(({ transactionHash }) => transactionHash))];
  const senders = await agreeOnSenders(watch, hashes);
  return transfers.map((transfer) => {
    const sent = senders.get(transfer.transactionHash);
    if (sent === undefined) return { ...transfer, nonce: undefined };
    return { ...transfer, sender: sent.address, nonce: sent.nonce };
  });
};
