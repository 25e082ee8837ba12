import { floorInsert, insertValues } from "./floor-statements.ts";
import { type Verdict, runRounds } from "./rounds.ts";
import type { Stage } from "./stage.ts";

const order = { toAmount: "25.5", description: "Order 1001" };

/**
 * Create, with key checked, limits counted, link and event stored, compared with bare Express, zod and pg that
 * promise as much: the body checked, the key known by its hash, link and event in one statement, and a relay
 * that takes the events.
 */
export const benchCreate = (stage: Stage): Promise<Verdict> => {
  const call = () => ({
    method: "POST" as const,
    path: "/v1/payment-link",
    headers: { "content-type": "application/json", "x-api-key": stage.merchant.apiKey },
    body: JSON.stringify(order),
  });
  const bare = () => ({ name: "insert", text: floorInsert, values: insertValues(order) });
  return runRounds({ stage, ours: call, floor: call, bare });
};
