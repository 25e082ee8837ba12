import { LRUCache } from "lru-cache";
import type { Clock } from "@payment-links/runtime";
import type { Bucket, Decision, Limit } from "./limiter.ts";
import { takeTokens, tokenMicros } from "./take-tokens.ts";

/** Buckets in this process' memory. */
export type OwnBuckets = {
  take(buckets: readonly Bucket[]): Decision;
  /** Makes the buckets stand as a decision taken elsewhere left them. */
  adopt(buckets: readonly Bucket[], decision: Decision): void;
};

/** When a bucket is full again; looked up once per request, and then changed in place. */
type Cell = { fullAtMicros: number };

/**
 * Keeps at most `bucketsMax` buckets of each policy; the one unused for longest is forgotten, which fills
 * it up. A flood of addresses thus pushes no key's bucket out.
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
  const cellOf = ({ policy, id }: Bucket): Cell => {
    const cells = cellsOf(policy);
    const known = cells.get(id);
    if (known !== undefined) return known;
    const cell = { fullAtMicros: 0 };
    cells.set(id, cell);
    return cell;
  };

  return {
    take: (buckets) => {
      const nowMicros = clock.now().getTime() * 1000;
      const asked = buckets.map(cellOf);
      const debts = buckets.map(({ limit }, index) => settle(asked[index], limit, nowMicros));
      const decision = takeTokens(buckets, debts);
      if (!decision.isAllowed) return decision;
      for (let index = 0; index < buckets.length; index += 1) {
        const [bucket, cell] = [buckets[index], asked[index]];
        if (bucket === undefined || cell === undefined) continue;
        cell.fullAtMicros = nowMicros + (debts[index] ?? 0) + tokenMicros(bucket.limit);
      }
      return decision;
    },
    adopt: (buckets, decision) => {
      const nowMs = clock.now().getTime();
      buckets.forEach((bucket, index) => {
        const fullInMs = decision.states[index]?.fullInMs ?? 0;
        cellOf(bucket).fullAtMicros = (nowMs + fullInMs) * 1000;
      });
    },
  };
};

/** A bucket's debt now; where the clock fell back, it is cut to one whole refill for good. */
const settle = (cell: Cell | undefined, limit: Limit, nowMicros: number): number => {
  if (cell === undefined) return 0;
  const debt = Math.max(cell.fullAtMicros - nowMicros, 0);
  const debtMax = tokenMicros(limit) * limit.burst;
  if (debt <= debtMax) return debt;
  cell.fullAtMicros = nowMicros + debtMax;
  return debtMax;
};
