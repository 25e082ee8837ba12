import assert from "node:assert/strict";
import { openAccount } from "./open-account.ts";
import type { Release } from "./release.ts";

/** The README's first payment, begun as the chart's notes say and made through the Services. */
export const makeFirstPayment = async (release: Release): Promise<void> => {
  const { cluster, name, provider } = release;
  const program = "first-payment";
  await cluster.startProgram({
    name: program,
    file: "first-payment.mjs",
    image: release.image("links-api"),
    isReceiver: true,
    env: {
      SERVICES: name,
      SIGN_IN_TOKEN: await openAccount(release),
      PROVIDER_NAME: provider.name,
      PROVIDER_SECRET: provider.secret,
      RECEIVER_PORT: String(release.receiverPort),
    },
  });
  assert.deepEqual((await cluster.endProgram(program)).trim().split("\n"), [
    "completed",
    "payment_link.completed: 25 of 25",
    "payment_link.transaction.succeeded: 25 of 25",
  ]);
};
