import { LRUCache } from "lru-cache";
import type { Clock } from "@payment-links/runtime";
import type { Bucket, Decision, Limit } from "./limiter.ts";
import { isShort, takeTokens, tokenMicros } from "./take-tokens.ts";

/** Buckets in this process' memory. */
export type OwnBuckets = {
  take(buckets: readonly Bucket[]): Decision;
  /** Sets the buckets to the state after a decision that was asked for elsewhere at `askedAtMs`. */
  adopt(buckets: readonly Bucket[], decision: Decision, askedAtMs: number): void;
  /**
   * The refusal of a request that some bucket cannot pay, by the states that were adopted.
   * Undefined says nothing. It takes no token. Others can only empty a bucket further, so the
   * refusal is right without asking, to within the millisecond of the adopted state.
   */
  refusal(buckets: readonly Bucket[]): Decision | undefined;
  /**
   * Each bucket's debt in µs if something was taken here since it was last adopted; otherwise 0.
   */
  untoldDebts(buckets: readonly Bucket[]): readonly number[];
};

/**
 * When a bucket is full again, and whether only this process knows that. It is looked up once per
 * request and then changed in place.
 */
type Cell = { fullAtMicros: number; isUntold: boolean };

/**
 * Keeps at most `bucketsMax` buckets of each policy. It forgets the one that is unused for longest,
 * which fills that one up. So a flood of addresses pushes no key's bucket out.
 */
export const createOwnBuckets = (clock: Clock, bucketsMax: number): OwnBuckets => {
  // Policies are words of the code, a handful of them.
  const policies = new Map<string, LRUCache<string, Cell>>();

  const cellsOf = (policy: string): LRUCache<string, Cell> => {
    const known = policies.get(policy);
    if (known !== undefined) return known;
    const cells = new LRUCache<string, Cell>({ max: bucketsMax });
    policies.set(policy, cells);
    return cells;
  };
  const knownCell = ({ policy, id }: Bucket): Cell | undefined => policies.get(policy)?.get(id);
  const cellOf = ({ policy, id }: Bucket): Cell => {
    const cells = cellsOf(policy);
    const known = cells.get(id);
    if (known !== undefined) return known;
    const cell = { fullAtMicros: 0, isUntold: false };
    cells.set(id, cell);
    return cell;
  };
  const nowMicros = () => Math.round(clock.elapsedMs() * 1000);

  return {
    take: (buckets) => {
      const now = nowMicros();
      const asked = buckets.map(cellOf);
      const debts = buckets.map(({ limit }, index) => settle(asked[index], limit, now));
      const decision = takeTokens(buckets, debts);
      if (!decision.isAllowed) return decision;
      for (let index = 0; index < buckets.length; index += 1) {
        const [bucket, cell] = [buckets[index], asked[index]];
        if (bucket === undefined || cell === undefined) continue;
        cell.fullAtMicros = now + (debts[index] ?? 0) + tokenMicros(bucket.limit);
        cell.isUntold = true;
      }
      return decision;
    },
    adopt: (buckets, decision, askedAtMs) => {
      for (let index = 0; index < buckets.length; index += 1) {
        const [bucket, state] = [buckets[index], decision.states[index]];
        if (bucket === undefined || state === undefined) continue;
        const cell = cellOf(bucket);
        cell.fullAtMicros = Math.round((askedAtMs + state.fullInMs) * 1000);
        cell.isUntold = false;
      }
    },
    refusal: (buckets) => {
      const now = nowMicros();
      let isRefused = false;
      const debts = buckets.map((bucket) => {
        const debt = settle(knownCell(bucket), bucket.limit, now);
        if (isShort(bucket.limit, debt)) isRefused = true;
        return debt;
      });
      return isRefused ? takeTokens(buckets, debts) : undefined;
    },
    untoldDebts: (buckets) => {
      const now = nowMicros();
      return buckets.map((bucket) => {
        const cell = knownCell(bucket);
        return cell?.isUntold === true ? settle(cell, bucket.limit, now) : 0;
      });
    },
  };
};

/** A bucket's debt now. If the clock fell back, it is cut to one whole refill, and stays cut. */
const settle = (cell: Cell | undefined, limit: Limit, nowMicros: number): number => {
  if (cell === undefined) return 0;
  const debt = Math.max(cell.fullAtMicros - nowMicros, 0);
  const debtMax = tokenMicros(limit) * limit.burst;
  if (debt <= debtMax) return debt;
  cell.fullAtMicros = nowMicros + debtMax;
  return debtMax;
};
