import { call } from "../rig/client.ts";
import { floorSelect } from "./floor-statements.ts";
import { type Verdict, runRounds } from "./rounds.ts";
import type { Stage } from "./stage.ts";

const linkCount = 200;

/**
 * Retrieve, with limits counted and the whole answer built, compared with a bare select of the same
 * rows.
 */
export const benchRetrieve = async (stage: Stage): Promise<Verdict> => {
  const ids: string[] = [];
  for (let index = 0; index < linkCount; index += 1) {
    const created = await call(`${stage.ours.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": stage.merchant.apiKey },
      body: { toAmount: "25.5", description: "Order 1001" },
    });
    ids.push(String(created.body["id"]));
  }
  let turn = 0;
  const nextId = () => ids[(turn += 1) % ids.length] ?? "";
  const nextCall = () => ({ method: "GET" as const, path: `/v1/payment-link/${nextId()}` });
  const bare = () => ({ name: "select", text: floorSelect, values: [nextId()] });
  return runRounds({ stage, ours: nextCall, floor: nextCall, bare });
};
