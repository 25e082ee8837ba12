import {
  type Block,
  type Output,
  type Pool,
  type Sent,
  type Transaction,
  lineage,
} from "./block.ts";
import type { ChainKind } from "./chain-kinds.ts";
import type { World } from "./world.ts";

/** What waits at a node: what it has heard of by then, and whether it lets one take another's place. */
type Hearing = { untilDrawn: number; replaces: () => boolean };

const fundingTransactions = 24;
const coinsOfFunding = 10;
const coinUnits = 10_000_000_000;
const feeUnits = 1_000;
/** A payer's own script. */
const changeScript = `0014${"c4".repeat(20)}`;

/**
 * What waits on Bitcoin: of transactions that spend the same output one is mined at most, whichever a
 * miner likes. All are known until one of them is final.
 */
export const createCoinPool = (
  { count, random, say }: World,
  kind: ChainKind,
  draw: () => number,
) => {
  const name = (spending: Pick<Transaction, "inputs" | "outputs">): Transaction => {
    const drawn = draw();
    const hash = kind.nameTransaction({ drawn, ...spending });
    const base = { isSuccessful: true, logs: [], transfers: [], money: [], from: "", nonce: 0 };
    return { ...base, ballastBytes: 0, ...spending, hash, drawn };
  };

  const first = Array.from({ length: fundingTransactions }, (_, at) =>
    name({
      inputs: [`${"00".repeat(31)}${String(at + 1).padStart(2, "0")}:0`],
      outputs: Array.from({ length: coinsOfFunding }, () => ({
        units: coinUnits,
        script: changeScript,
      })),
    }),
  );
  const coins = first.flatMap(outpointsOf);
  const values = new Map(coins.map((coin) => [coin, coinUnits]));
  /** What payers got back of their own, and nobody spends. */
  const changes: string[] = [];
  /** All that may be mined, or was, in the order in which it was sent. */
  let known: Transaction[] = [];
  const mined = new Set<Transaction>();
  /** Those that will never be, as final blocks show. */
  const disproved = new Set<string>();
  let sentCount = 0;

  const select = (
    tip: Block,
    candidates: readonly Transaction[],
    replaces: () => boolean,
  ): readonly Transaction[] => {
    const { spent, there } = readChain(tip);
    let chosen: readonly Transaction[] = [];
    for (const one of candidates) {
      if (there.has(one.hash) || one.inputs.some((input) => spent.has(input))) continue;
      const rivals = chosen.filter((other) => areRivals(one, other));
      const rest = leaveOut(chosen, rivals);
      const hashes = new Set(rest.map(({ hash }) => hash));
      const isSpendable = one.inputs.every((input) => {
        const parent = hashOf(input);
        return there.has(parent) || hashes.has(parent);
      });
      if (!isSpendable || (rivals.length > 0 && !replaces())) continue;
      chosen = [...rest, one];
    }
    return chosen;
  };

  const waiting = (tip: Block, { replaces, untilDrawn }: Hearing): readonly Transaction[] =>
    select(
      tip,
      known.filter(({ drawn }) => drawn <= untilDrawn),
      replaces,
    );
  const waitingAll = (tip: Block) => waiting(tip, { untilDrawn: Infinity, replaces: () => true });

  const takeCoin = (tip: Block): string => {
    const wait = new Set(waitingAll(tip).map(({ hash }) => hash));
    const { there } = readChain(tip);
    const own = changes.filter((one) => there.has(hashOf(one)) || wait.has(hashOf(one)));
    if (own.length > 0 && random.chance(0.3)) {
      const [coin = ""] = changes.splice(changes.indexOf(random.pick(own)), 1);
      if (wait.has(hashOf(coin))) count("coins spent before they were mined");
      return coin;
    }
    const coin = coins.shift();
    if (coin === undefined) throw new RangeError("payers have no more coins");
    return coin;
  };

  const spend = (
    inputs: readonly string[],
    { ballastBytes = 0, money = [], outputs = [] }: Sent,
  ): Transaction => {
    const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);
    const given = sum(inputs.map((input) => values.get(input) ?? 0));
    sentCount += 1;
    // Of two that were alike in all, their ids would be the same.
    const fee = feeUnits * (1 + random.below(9)) + sentCount;
    const rest = given - sum(outputs.map(({ units }) => units)) - fee;
    const change: Output = { units: Math.max(0, rest), script: changeScript };
    const isFirst = random.chance(0.5);
    const all = isFirst ? [change, ...outputs] : [...outputs, change];
    const sent = { ...name({ inputs, outputs: all }), money, ballastBytes };
    const coin = outpointsOf(sent)[isFirst ? 0 : all.length - 1] ?? "";
    values.set(coin, change.units);
    // Smaller ones would not do for what is paid.
    if (change.units > coinUnits / 2) changes.push(coin);
    known.push(sent);
    return sent;
  };

  const drawInputs = (tip: Block): string[] =>
    Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => takeCoin(tip));

  /** Nobody will ever mine it; how the chain tells so. */
  const end = (
    one: Transaction,
    proof: "its own coins" | "its ancestors' coins" | "none",
  ): void => {
    if (proof !== "none") disproved.add(one.hash);
    const isUndecidable = proof === "none";
    const isOrphan = proof === "its ancestors' coins";
    for (const each of one.money) {
      if (each.isEndTold) each.isDoubtful = true;
      else Object.assign(each, { end: "failed", isUndecidable, isOrphan });
    }
  };

  /** All nodes drop one, for good. */
  const forget = (tip: Block): void => {
    const unmined = waitingAll(tip).filter((one) => !mined.has(one));
    if (unmined.length === 0) return;
    const gone = random.pick(unmined);
    known = known.filter((one) => one !== gone);
    end(gone, "none");
    say("nobody knows a transaction any more");
    count("transactions forgotten");
  };

  const pool: Pool = {
    first,
    send: (tip, _from, sent) => spend(drawInputs(tip), sent),
    take: (tip) => {
      if (random.chance(0.02)) forget(tip);
      const some = known.filter(() => random.chance(0.5));
      // A miner may still have the first of two.
      const taken = select(tip, some, () => random.chance(0.85));
      for (const one of taken) mined.add(one);
      return taken;
    },
    takeBack: (lost) => {
      for (const one of lost) {
        for (const each of one.money) if (each.isEndTold) each.isMoved = true;
        if (!random.chance(0.25)) continue;
        spend([random.pick(one.inputs)], {});
        count("double spends after a fork");
      }
    },
    isEmpty: (tip) => waitingAll(tip).length === 0,
    settle: (block) => {
      const { spent, there } = readChain(block);
      const alive = new Set<string>();
      for (const one of known) {
        const isSpent = one.inputs.some((input) => spent.has(input));
        const parents = one.inputs.map(hashOf);
        const isOrphan = parents.some((hash) => !there.has(hash) && !alive.has(hash));
        if (there.has(one.hash) || !(isSpent || isOrphan)) alive.add(one.hash);
        else {
          const isDisproved = parents.some((hash) => disproved.has(hash));
          end(one, isSpent ? "its own coins" : isDisproved ? "its ancestors' coins" : "none");
          count(isSpent ? "transactions replaced" : "transactions without their parents");
        }
      }
      known = known.filter(({ hash }) => alive.has(hash));
    },
  };

  return {
    ...pool,
    waiting,
    waitingAll,
    /** Sends another one that spends some of the same. */
    replace: (tip: Block, one: Transaction, sent: Sent): Transaction => {
      const kept = one.inputs.filter(() => random.chance(0.6));
      const inputs = kept.length === 0 ? one.inputs.slice(0, 1) : kept;
      return spend(random.chance(0.2) ? [...inputs, takeCoin(tip)] : inputs, sent);
    },
  };
};

export type CoinPool = ReturnType<typeof createCoinPool>;

/** The transaction whose output it is. */
const hashOf = (outpoint: string): string => outpoint.split(":")[0] ?? "";

const outpointsOf = ({ hash, outputs }: Pick<Transaction, "hash" | "outputs">): string[] =>
  outputs.map((_, index) => `${hash}:${index}`);

const areRivals = (one: Transaction, other: Transaction): boolean =>
  one.inputs.some((input) => other.inputs.includes(input));

/** Without some, and without all that spends what they pay. */
const leaveOut = (
  all: readonly Transaction[],
  some: readonly Transaction[],
): readonly Transaction[] => {
  const gone = new Set(some.map(({ hash }) => hash));
  return all.filter(({ hash, inputs }) => {
    if (inputs.some((input) => gone.has(hashOf(input)))) gone.add(hash);
    return !gone.has(hash);
  });
};

/** What a chain's transactions are, and what they spend. */
const readChain = (tip: Block) => {
  const transactions = lineage(tip).flatMap((block) => block.transactions);
  return {
    there: new Set(transactions.map(({ hash }) => hash)),
    spent: new Set(transactions.flatMap(({ inputs }) => inputs)),
  };
};
