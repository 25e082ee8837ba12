import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement, usdcOnBase } from "../testing/samples.ts";

const rig = useRig(() => createRig({ hasEmail: true }));
const rigWithoutEmail = useRig(() => createRig());

const address = "payer.of.this.test@example.com";
const hash = `0x${"ab".repeat(32)}`;

/** Creates a paid link and returns the path of its receipt. */
const payLink = async (overrides: Parameters<typeof sampleSettlement>[1] = {}) => {
  const account = sampleAccount();
  const id = await rig.createLink(rig.createKeyHeaders(account), {
    toAmount: "25.5",
    description: "Order 7",
  });
  const payment = sampleSettlement(id, { amount: "25.5", ...overrides });
  await rig.settle(payment);
  return { account, id, payment, path: `/tx/${payment.id}` };
};

const submit = (path: string, to = address, headers: Record<string, string> = {}) =>
  rig.call(path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams({ address: to }).toString(),
  });

/** Lets auth-keys respond differently while a test runs. */
const withResponse = async (
  respond: typeof rig.receipts.respond,
  run: () => Promise<void>,
): Promise<void> => {
  const original = rig.receipts.respond;
  rig.receipts.respond = respond;
  await run().finally(() => (rig.receipts.respond = original));
};

describe("the receipt's form", () => {
  test("sends the receipt in the page's language, without a script, and a reload does not repeat it (rules MAIL-8 and MAIL-9)", async () => {
    const { account, payment, path } = await payLink({
      source: "evm:8453",
      sourceTransaction: hash,
    });
    const page = await rig.call(path);
    expect(page.text).toContain("<summary>Email this receipt</summary>");
    expect(page.text).toContain(`<form method="post" action="${path}#email">`);
    const response = await submit(path, ` ${address} `, { "accept-language": "pt-PT" });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe(`${path}?receipt=sent#email`);
    expect(rig.receipts.requests.at(-1)).toEqual({
      to: address,
      language: "pt-BR",
      paymentId: payment.id,
      shop: account.username,
      description: "Order 7",
      amount: payment.amount,
      chainId: usdcOnBase.chainId,
      tokenAddress: usdcOnBase.tokenAddress,
      paidAt: payment.occurredAt,
      sourceTransaction: hash,
      isObserved: true,
    });
    const sentPage = await rig.call(`${path}?receipt=sent`);
    expect(sentPage.text).toContain('role="status">Receipt sent. Check your inbox.');
    expect(sentPage.text).not.toContain("example.com");
  });

  test("is not offered for a suspended shop (rule MAIL-10)", async () => {
    const { account, path } = await payLink();
    await rig.receiveAccount({ ...account, version: 2, isSuspended: true });
    expect((await rig.call(path)).text).not.toContain('name="address"');
    expect((await submit(path)).status).toBe(404);
  });

  test("does not call a provider's transaction observed (rule API-31)", async () => {
    const { path } = await payLink({ sourceTransaction: hash });
    await submit(path);
    expect(rig.receipts.requests.at(-1)).toMatchObject({ isObserved: false });
  });

  test.each([
    ["empty", ""],
    ["without a domain", "payer"],
    ["with a name", "Payer <payer@example.com>"],
    ["with two addresses", "a@example.com,b@example.com"],
    ["with a line break", "a@example.com\r\nBcc: b@example.com"],
    ["with markup", '"><script>alert(1)</script>@example.com'],
    ["too long", `${"a".repeat(250)}@example.com`],
  ])(
    "explains that an address is invalid if it is %s, and keeps it (rule MAIL-8)",
    async (_name, to) => {
      const { path } = await payLink();
      const requestsBefore = rig.receipts.requests.length;
      const page = await submit(path, to);
      expect(page.status).toBe(422);
      expect(page.text).toMatch(/role="alert">Enter a valid email address\.</);
      expect(page.text).toMatch(/<details open>/);
      const value = /name="address"\s+type="email"\s+value="([^"]*)"/.exec(page.text)?.[1];
      expect(value?.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">")).toBe(
        to,
      );
      expect(page.text).not.toContain("<script>alert");
      expect(rig.receipts.requests).toHaveLength(requestsBefore);
    },
  );

  test("says that a server rejects the address, or that sending failed, and keeps it (rule MAIL-8)", async () => {
    const { path } = await payLink();
    await withResponse(
      async () => ({ outcome: "rejected" }),
      async () => {
        const page = await submit(path);
        expect(page.status).toBe(422);
        expect(page.text).toContain("The mail server rejected this address.");
        expect(page.text).toContain(`value="${address}"`);
      },
    );
    await withResponse(
      () => Promise.reject(new Error("auth-keys is unavailable")),
      async () => {
        const page = await submit(path);
        expect(page.status).toBe(503);
        expect(page.text).toContain("We couldn&#39;t send the receipt. Try again later.");
        expect(page.text).toContain(`value="${address}"`);
        // Nothing else is disturbed.
        expect((await rig.call(path)).status).toBe(200);
      },
    );
  });

  test("cannot be submitted by another site, or sent for a payment without a receipt (rule MAIL-8)", async () => {
    const { id, path } = await payLink();
    const processing = sampleSettlement(id, { status: "processing" });
    const unapplied = sampleSettlement(id, { amount: "1" });
    await rig.settle(processing, unapplied);
    const requestsBefore = rig.receipts.requests.length;
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
      { origin: "null" },
    ] as Record<string, string>[]) {
      expect((await submit(path, address, headers)).status).toBe(403);
    }
    for (const paymentId of [processing.id, unapplied.id, newId("tx"), id, "x", "%00"]) {
      const { status } = await submit(`/tx/${paymentId}`);
      expect([paymentId, status]).toEqual([paymentId, 404]);
    }
    expect(rig.receipts.requests).toHaveLength(requestsBefore);
    const ownHeaders = { "sec-fetch-site": "same-origin", origin: "null" };
    expect((await submit(path, address, ownHeaders)).status).toBe(303);
  });
});

describe("the number of receipts", () => {
  const sendFrom = (to: string) => submit(to, address);

  test("is limited per payment, however they end (rule MAIL-10)", async () => {
    rig.clock.advance(3_600_000);
    const { path } = await payLink();
    const statuses: number[] = [];
    for (let count = 1; count <= 3; count += 1) statuses.push((await sendFrom(path)).status);
    const page = await sendFrom(path);
    statuses.push(page.status);
    expect(statuses).toEqual([303, 303, 303, 429]);
    expect(page.text).toContain("Too many receipts were requested. Try again later.");
    expect(page.text).toContain(`value="${address}"`);
    expect(Number(page.headers.get("retry-after"))).toBeGreaterThan(1_000);
    expect(page.headers.get("ratelimit-policy")).toContain('"receipts-payment";q=3;w=3600');
    rig.clock.advance(1_200_000);
    expect((await sendFrom(path)).status).toBe(303);
  });

  test("is limited per source address, over all payments (rules API-21 and MAIL-10)", async () => {
    rig.clock.advance(3_600_000);
    const statuses: number[] = [];
    for (let count = 1; count <= 11; count += 1) {
      const { path } = await payLink();
      statuses.push((await sendFrom(path)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 303), 429]);
    rig.clock.advance(3_600_000);
  });
});

test("the address is in no table, event, log line or metric of this service, sent or not (rule MAIL-8)", async () => {
  rig.clock.advance(3_600_000);
  const { path } = await payLink();
  await submit(path);
  await withResponse(
    () => Promise.reject(new Error("auth-keys responded with status 503")),
    async () => void (await submit(path)),
  );
  await submit(path, `${address} `.repeat(2));
  await submit("/tx/none");
  const tables = await rig.pool.oneFirst(
    sql.type(z.object({ text: z.string() }))`
      SELECT schema_to_xml('links_api', true, false, '')::text AS text
    `,
  );
  const log = rig.logLines.join("");
  expect(log).toContain("receipt could not be sent");
  expect(tables).toContain("<outbox");
  for (const text of [tables, log, await rig.context.metrics.metrics()]) {
    expect(text).not.toContain("payer.of.this.test");
  }
});

test("without email, there is no form, and a submission is 404 (rules MAIL-1 and MAIL-8)", async () => {
  const account = sampleAccount();
  const headers = rigWithoutEmail.createKeyHeaders(account);
  const id = await rigWithoutEmail.createLink(headers, { toAmount: "10" });
  const payment = sampleSettlement(id);
  await rigWithoutEmail.settle(payment);
  const path = `/tx/${payment.id}`;
  expect((await rigWithoutEmail.call(path)).text).not.toContain('name="address"');
  const response = await rigWithoutEmail.call(path, {
    method: "POST",
    body: "address=a@b.example",
  });
  expect(response.status).toBe(404);
  expect(rigWithoutEmail.receipts.requests).toEqual([]);
});
