import { type QuerySqlToken, sql } from "slonik";
import * as z from "zod";
import type { Db } from "@payment-links/postgres";

/** A node of the plan of an executed query. */
export type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  "Heap Fetches"?: number;
  Plans?: Plan[];
};

const PlanRow = z.object({ "QUERY PLAN": z.array(z.object({ Plan: z.custom<Plan>() })) });

/** Runs queries and returns the plans of all their statements. */
export const explainQueries = async (
  db: Db,
  runQueries: (db: Db) => Promise<unknown>,
): Promise<Plan[]> => {
  const plans: Plan[] = [];
  const explainingDb = new Proxy(db, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (query: QuerySqlToken) => {
        const row = await db.one(sql.type(PlanRow)`
          EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${query}
        `);
        plans.push(...row["QUERY PLAN"].map(({ Plan }) => Plan));
        return Reflect.apply(method, target, [query]);
      };
    },
  });
  await runQueries(explainingDb);
  return plans;
};

/** Lists the plan nodes that read a table, with or without an index. */
export const listScans = (plans: readonly Plan[]): Plan[] =>
  plans.flatMap((plan) => [
    ...(plan["Relation Name"] === undefined ? [] : [plan]),
    ...listScans(plan.Plans ?? []),
  ]);

/** Returns the number of rows that scans read, including rows that were filtered out. */
export const countScannedRows = (scans: readonly Plan[]): number =>
  scans.reduce(
    (sum, scan) =>
      sum + (scan["Actual Rows"] + (scan["Rows Removed by Filter"] ?? 0)) * scan["Actual Loops"],
    0,
  );

/** Returns the number of 8 KiB pages that the statements read, from the cache or from disk. */
export const countTouchedPages = (plans: readonly Plan[]): number =>
  plans.reduce(
    (sum, plan) => sum + (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0),
    0,
  );
