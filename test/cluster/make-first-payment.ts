import assert from "node:assert/strict";
import * as z from "zod";
import type { Release } from "./release.ts";

const OpenedAccount = z.object({ signInUrl: z.url() });

/** The README's first payment, begun as the chart's notes say and made through the Services. */
export const makeFirstPayment = async (release: Release): Promise<void> => {
  const { cluster, name, provider } = release;
  const printed = await cluster.kubectl([
    "exec",
    `deployment/${name}-auth-keys`,
    "--",
    "node",
    "/app/deploy/src/admin.ts",
    "account",
    "create",
    "--handle",
    `shop${Date.now().toString(36)}`,
    "--username",
    "Shop",
  ]);
  const { signInUrl } = OpenedAccount.parse(JSON.parse(printed));
  const program = "first-payment";
  await cluster.startProgram({
    name: program,
    file: "first-payment.mjs",
    image: release.image("links-api"),
    env: {
      SERVICES: name,
      SIGN_IN_TOKEN: new URL(signInUrl).hash.replace("#token=", ""),
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
