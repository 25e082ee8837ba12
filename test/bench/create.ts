import { randomBytes } from "node:crypto";
import { newId } from "@payment-links/contracts";
import { floorInsert, insertValues } from "./floor-statements.ts";
import { type Verdict, runRounds } from "./rounds.ts";
import type { Stage } from "./stage.ts";

/**
 * Create, with key checked, limits counted, link and event stored, compared with a bare insert of
 * the same row.
 */
export const benchCreate = (stage: Stage): Promise<Verdict> => {
  const call = () => ({
    method: "POST" as const,
    path: "/v1/payment-link",
    headers: { "content-type": "application/json", "x-api-key": stage.merchant.apiKey },
    body: '{"toAmount":"25.5","description":"Order 1001"}',
  });
  const bare = () => {
    const values = insertValues(newId("plink"), "25.5", randomBytes(16).toString("hex"));
    return { name: "insert", text: floorInsert, values };
  };
  return runRounds({ stage, ours: call, floor: call, bare });
};
