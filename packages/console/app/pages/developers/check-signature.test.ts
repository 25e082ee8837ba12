import { createHmac } from "node:crypto";
import { expect, test } from "@jest/globals";
import { checkSignature } from "./check-signature.ts";

const now = new Date("2026-11-21T10:00:00Z");
const secret = "whsec_abc";
const timestamp = String(now.getTime() / 1000 - 300);
const body = '{"id":"evt_1","name":"Ärger"}';
const mac = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
const signedWebhook = { secret, timestamp, body, signature: `v1=${mac}` };

test("accepts a signature only for its own secret, timestamp and body, and only for five minutes", async () => {
  expect(await checkSignature(signedWebhook, now)).toBe("isGenuine");
  expect(await checkSignature({ ...signedWebhook, signature: ` ${mac}\n` }, now)).toBe("isGenuine");
  expect(await checkSignature(signedWebhook, new Date(now.getTime() + 1000))).toBe("isStale");
  for (const changes of [{ secret: "other" }, { timestamp: "1" }, { body: `${body} ` }]) {
    expect(await checkSignature({ ...signedWebhook, ...changes }, now)).toBe("isWrong");
  }
});
