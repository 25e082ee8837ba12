import assert from "node:assert/strict";
import type { Release } from "./release.ts";
import { startShopProgram } from "./start-shop-program.ts";

/**
 * Makes the README's first payment through the Kubernetes Services. Signs in as the chart's notes
 * describe.
 */
export const makeFirstPayment = async (release: Release): Promise<void> => {
  const program = "first-payment";
  await startShopProgram(release, { name: program, file: "first-payment.mjs" });
  assert.deepEqual((await release.cluster.endProgram(program)).trim().split("\n"), [
    "completed",
    "payment_link.completed: 25 of 25",
    "payment_link.transaction.succeeded: 25 of 25",
  ]);
};
