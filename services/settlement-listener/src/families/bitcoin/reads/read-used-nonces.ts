import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { ChainReader } from "../../../watch/chain-reader.ts";
import { blockQuestion, heightQuestion, unspentQuestion } from "../node-answers.ts";
import { type Ancestor, coinbase, readSender } from "../verify-transaction.ts";
import { txidOf } from "./ask-ancestors.ts";
import { askHeaders } from "./read-headers.ts";
import { listMined } from "./read-transactions.ts";

/**
 * So many blocks are looked through at once for who spent an output, the newest first; at each further
 * turn those that came since, and as many older ones.
 */
const blocksAtOnce = 20;
/** And so many at all: two weeks. */
const blocksMax = 2_016;
const sendersMax = 1_000;
/** What a block spends is kept of so many. */
const keptBlocksMax = 40;

/** Outputs, and by which transaction each may be spent: undefined where any other one is too much. */
type Wanted = ReadonlyMap<string, string | undefined>;

type Range = { fromBlock: number; toBlock: number };

/** The final blocks that were looked through for a sender, and which of them spends what it would. */
type Looked = { from: number; to: number; usedIn: number | undefined };

/**
 * Outputs stand for nonces, as each is spent once. A sender has used its nonce 0 once a block up to the
 * given one spends any of them, or spends what an ancestor would by another transaction. Nodes tell who
 * spent an output in no other way than by their blocks: these are read only while such an output is not
 * there.
 */
export const createReadUsedNonces = ({
  turn,
}: Pick<ReaderGround, "turn">): ChainReader["readUsedNonces"] => {
  const readSpent = createReadSpent();
  const lookedOf = new Map<string, Looked>();

  /** The newest block of a range that spends what is wanted by another transaction. */
  const findSpend = async (
    provider: Provider,
    range: Range,
    wanted: Wanted,
  ): Promise<number | undefined> => {
    if (range.toBlock < range.fromBlock) return undefined;
    const headers = await askHeaders(provider, range);
    if (headers.length < range.toBlock - range.fromBlock + 1) {
      throw new RpcFault("behind", "a node that has not come so far");
    }
    for (const { hash, number } of headers.toReversed()) {
      const spent = await readSpent(provider, hash);
      const isOthers = [...wanted].some(([outpoint, by]) => {
        const spender = spent.get(outpoint);
        return spender !== undefined && spender !== by;
      });
      if (isOthers) return number;
    }
    return undefined;
  };

  /** Where final blocks spend it, as far as they have been looked through by now. */
  const findFinalSpend = async (
    provider: Provider,
    { blockNumber, sender, wanted }: { blockNumber: number; sender: string; wanted: Wanted },
  ): Promise<number | undefined> => {
    const before = lookedOf.get(sender);
    const usedIn = before?.usedIn;
    if (usedIn !== undefined && usedIn <= blockNumber) {
      // It is looked up once more, as an operator may have had the watch begin anew.
      const again = { fromBlock: usedIn, toBlock: usedIn };
      if ((await findSpend(provider, again, wanted)) !== undefined) return usedIn;
    }
    const isGoingOn = before !== undefined && usedIn === undefined && before.to <= blockNumber;
    const { from, to } = isGoingOn ? before : { from: blockNumber + 1, to: blockNumber };
    const newer = { fromBlock: to + 1, toBlock: Math.min(blockNumber, to + blocksAtOnce) };
    const lowest = Math.max(0, blockNumber - blocksMax, from - blocksAtOnce);
    const older = { fromBlock: lowest, toBlock: from - 1 };
    const found =
      (await findSpend(provider, newer, wanted)) ?? (await findSpend(provider, older, wanted));
    for (const oldest of [...lookedOf.keys()].slice(0, -sendersMax)) lookedOf.delete(oldest);
    const looked = { from: Math.min(lowest, from), to: newer.toBlock, usedIn: found };
    lookedOf.set(sender, looked);
    return found;
  };

  return async (sender, blockNumber) => {
    // A coinbase is valid at one height only.
    if (sender === coinbase) return blockNumber + 1;
    const { ancestors, outpoints: own } = readSender(sender);
    return turn.ask("what was spent", async (provider) => {
      const wanted: Wanted = new Map([
        ...(await listOpen(provider, ancestors)),
        ...own.map((outpoint) => [outpoint, undefined] as const),
      ]);
      const outpoints = [...wanted.keys()];
      const areUnspent = await provider.askMany(outpoints.map(unspentQuestion));
      const gone = outpoints.filter((_, index) => areUnspent[index] !== true);
      // An output that is in no block yet is not spent in one.
      if (!(await isAnyMined(provider, gone))) return 0;
      const [height] = await provider.ask([heightQuestion]);
      // Of a head beyond that it makes no difference: what is spent there is not final.
      const toBlock = Math.min(height, blockNumber + blocksMax);
      const fresh = { fromBlock: blockNumber + 1, toBlock };
      // It is known who spent it, and that it is not final: no older block has to be looked through.
      if ((await findSpend(provider, fresh, wanted)) !== undefined) return 0;
      const spentAt = await findFinalSpend(provider, { blockNumber, sender, wanted });
      return spentAt === undefined ? 0 : 1;
    });
  };
};

/** What ancestors spend that stand in no block: those that do can no longer keep anything from being. */
const listOpen = async (
  provider: Provider,
  ancestors: readonly Ancestor[],
): Promise<readonly (readonly [string, string])[]> => {
  const standing = await listMined(
    provider,
    ancestors.map(({ txid }) => txid),
  );
  return ancestors
    .filter(({ txid }) => !standing.has(txid))
    .flatMap(({ inputs, txid }) => inputs.map((input) => [input, txid] as const));
};

const isAnyMined = async (provider: Provider, outpoints: readonly string[]): Promise<boolean> =>
  (await listMined(provider, outpoints.map(txidOf))).size > 0;

/**
 * Reads what a block spends, and keeps that of the last ones. Who asks while another waits for the answer
 * waits for the same one.
 */
const createReadSpent = (): typeof askSpent => {
  const spentIn = new Map<string, ReturnType<typeof askSpent>>();
  return (provider, hash) => {
    const asking = spentIn.get(hash) ?? askSpent(provider, hash);
    spentIn.delete(hash);
    spentIn.set(hash, asking);
    for (const oldest of [...spentIn.keys()].slice(0, -keptBlocksMax)) spentIn.delete(oldest);
    // What failed is asked again by whoever comes next.
    asking.catch(() => {
      if (spentIn.get(hash) === asking) spentIn.delete(hash);
    });
    return asking;
  };
};

/** The outputs that a block spends, each with the transaction that does. */
const askSpent = async (provider: Provider, hash: string): Promise<ReadonlyMap<string, string>> => {
  const [{ transactions }] = await provider.ask([blockQuestion(hash)]);
  return new Map(
    transactions.flatMap(({ inputs, txid }) => inputs.map((input) => [input, txid] as const)),
  );
};
