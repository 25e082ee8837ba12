import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import {
  type ReceiptEmail,
  Decimal,
  ReceiptEmail as ReceiptEmailSchema,
  newId,
} from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { waitUntil } from "@payment-links/runtime/testing";
import { createEmailRig } from "../testing/create-email-rig.ts";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const rig = useRig(createEmailRig);
const rigWithoutEmail = useRig(() => createRig());
const unreachableRig = useRig(() =>
  createRig({
    email: {
      server: { host: "127.0.0.1", port: 1, isSecure: false, requiresTls: false, auth: undefined },
      from: { name: "", address: "shop@example.com" },
    },
  }),
);

const address = "payer.of.this.test@example.com";
const receipt: ReceiptEmail = {
  to: address,
  language: "de",
  paymentId: newId("tx"),
  shop: "Tea & Co",
  description: "Order 1001",
  amount: new Decimal("25.5"),
  chainId: "8453",
  tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  paidAt: new Date("2026-11-21T10:00:00.000Z"),
  sourceTransaction: null,
  isObserved: true,
};
const body = z.encode(ReceiptEmailSchema, receipt);
const send = (overrides: object = {}) =>
  rig.call("POST", "/internal/receipts", { body: { ...body, ...overrides } });

const countOutcomes = async (): Promise<Record<string, number>> => {
  const counter = await rig.metrics.getSingleMetric("payment_links_emails_total")?.get();
  const values = counter?.values.filter(({ labels }) => labels["type"] === "receipt") ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [labels["outcome"], value]));
};

/** Everything that the service stores, logs or measures. */
const readEverything = async (): Promise<string> => {
  const tables = await rig.pool.oneFirst(
    sql.type(z.object({ text: z.string() }))`
      SELECT schema_to_xml('auth_keys', true, false, '')::text AS text
    `,
  );
  return [tables, rig.logLines.join(""), await rig.metrics.metrics()].join("\n");
};

describe("POST /internal/receipts", () => {
  test("sends the receipt immediately, in its language (rules MAIL-8 and MAIL-9)", async () => {
    const received = rig.smtp.emails.length;
    const response = await send();
    expect([response.status, response.body]).toEqual([200, { outcome: "sent" }]);
    const [email] = rig.smtp.emails.slice(received);
    expect(email?.to).toEqual([address]);
    expect(email?.message).toContain("Sie haben 25,5 USDC an Tea & Co gezahlt.");
    expect(email?.message).toContain('<html lang="de">');
    expect(email?.headers.get("auto-submitted")).toBe("auto-generated");
    expect(email?.headers.has("list-unsubscribe")).toBe(false);
    expect((await countOutcomes())["sent"]).toBe(1);
  });

  test("says that the server rejects the address, and fails for any other reason (rule MAIL-8)", async () => {
    rig.smtp.rejection.reply = { code: 550, text: `unknown mailbox ${address}` };
    expect((await send()).body).toEqual({ outcome: "rejected" });
    rig.smtp.rejection.reply = { code: 451, text: `try ${address} later` };
    expect(summarizeResponse(await send())).toBe("503 SERVICE_UNAVAILABLE");
    rig.smtp.rejection.reply = undefined;
    expect(await countOutcomes()).toMatchObject({ rejected: 1, failed: 1 });
    expect(rig.logLines.join("")).toContain("receipt could not be sent");
  });

  test("leaves the address in no table, log line or metric, sent or not (rule MAIL-8)", async () => {
    await send();
    for (const code of [451, 550]) {
      rig.smtp.rejection.reply = { code, text: `about ${address}` };
      await send();
    }
    rig.smtp.rejection.reply = undefined;
    await send({ to: `${address}\r\nBcc: v@example.com` });
    const everything = await readEverything();
    expect(everything).toContain("payment_links_emails_total");
    expect(everything).not.toContain("payer.of.this.test");
    expect(everything).not.toContain(Buffer.from(address).toString("base64").slice(0, -3));
  });

  test.each([
    ["an address with a line break", { to: `${address}\r\nBcc: v@example.com` }],
    ["two addresses", { to: `${address},v@example.com` }],
    ["an unknown language", { language: "tlh" }],
    ["an id that is not a payment's", { paymentId: newId("plink") }],
    ["an amount that is not a number", { amount: "many" }],
  ])("rejects %s and sends nothing (rule MAIL-8)", async (_name, overrides) => {
    const received = rig.smtp.emails.length;
    const response = await send(overrides);
    expect(response.status).toBe(422);
    expect(response.text).not.toContain("example.com");
    expect(rig.smtp.emails).toHaveLength(received);
  });

  test("is 404 without an SMTP server, and 503 if it cannot be reached (rules MAIL-1 and MAIL-8)", async () => {
    const options = { body };
    const unavailable = await rigWithoutEmail.call("POST", "/internal/receipts", options);
    expect(summarizeResponse(unavailable)).toBe("404 EMAIL_UNAVAILABLE");
    const unreachable = await unreachableRig.call("POST", "/internal/receipts", options);
    expect(summarizeResponse(unreachable)).toBe("503 SERVICE_UNAVAILABLE");
  });

  test("sends at most 10 at the same time, so that a slow server holds up nothing else (rule MAIL-8)", async () => {
    const release = rig.smtp.holdRecipients();
    const pending = Array.from({ length: 10 }, () => send());
    await waitUntil("the server holds 10 recipients", () => rig.smtp.heldCount() === 10);
    expect(summarizeResponse(await send())).toBe("503 SERVICE_UNAVAILABLE");
    release();
    const responses = await Promise.all(pending);
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect((await send()).status).toBe(200);
  });
});
