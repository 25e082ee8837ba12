import { floorInsert, createInsertValues } from "./floor-statements.ts";
import { type BenchResult, runRounds } from "./rounds.ts";
import type { BenchSetup } from "./bench-setup.ts";

const order = { toAmount: "25.5", description: "Order 1001" };

/**
 * Create, with key checked, limits counted, link and event stored, compared with bare Express, zod and pg that
 * promise as much: the body checked, the key known by its hash, link and event in one statement, and a relay
 * that takes the events.
 */
export const benchCreate = (setup: BenchSetup): Promise<BenchResult> => {
  const createCall = () => ({
    method: "POST" as const,
    path: "/v1/payment-link",
    headers: { "content-type": "application/json", "x-api-key": setup.merchant.apiKey },
    body: JSON.stringify(order),
  });
  const bare = () => ({ name: "insert", text: floorInsert, values: createInsertValues(order) });
  return runRounds({ setup, ours: createCall, floor: createCall, bare });
};
