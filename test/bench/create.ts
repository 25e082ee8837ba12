import { floorInsert, createInsertValues } from "./floor-statements.ts";
import { type BenchResult, runRounds } from "./rounds.ts";
import type { BenchSetup } from "./bench-setup.ts";

const order = { toAmount: "25.5", description: "Order 1001" };

/**
 * Measures the create call, including the API key check, rate limits, and storing the link and its
 * event. The baseline is Express, zod and pg with the same guarantees. It validates the body, finds
 * the key by its hash, stores the link and its event in one statement, and relays the events.
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
