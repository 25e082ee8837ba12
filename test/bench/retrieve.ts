import { call } from "../rig/client.ts";
import { floorSelect } from "./floor-statements.ts";
import { type BenchResult, runRounds } from "./rounds.ts";
import type { BenchSetup } from "./bench-setup.ts";

const linkCount = 200;

/**
 * Measures the retrieve call, including rate limits and the full response. The baseline is a server
 * with a bare query of the same rows.
 */
export const benchRetrieve = async (setup: BenchSetup): Promise<BenchResult> => {
  const ids: string[] = [];
  for (let index = 0; index < linkCount; index += 1) {
    const created = await call(`${setup.ours.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": setup.merchant.apiKey },
      body: { toAmount: "25.5", description: "Order 1001" },
    });
    ids.push(String(created.body["id"]));
  }
  let callIndex = 0;
  const nextId = () => ids[(callIndex += 1) % ids.length] ?? "";
  const nextCall = () => ({ method: "GET" as const, path: `/v1/payment-link/${nextId()}` });
  const bare = () => ({ name: "select", text: floorSelect, values: [nextId()] });
  return runRounds({ setup, ours: nextCall, floor: nextCall, bare });
};
