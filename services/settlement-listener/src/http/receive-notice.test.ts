import { createHmac } from "node:crypto";
import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { newId } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { receiveLink } from "../testing/receive-link.ts";
import { type Rig, createRig, secrets } from "../testing/create-rig.ts";
import { readEvents, readPayments } from "../testing/read-rows.ts";
import { owner, payerTransaction, sampleLink, sampleNotice, usdc } from "../testing/samples.ts";

const rig = useRig(createRig);

type NoticeOverrides = Record<string, unknown>;

/** Sends a notice as its provider would. Returns the status and the error codes. */
const sendNotice = async (notice: object, options: Parameters<Rig["sendText"]>[1] = {}) =>
  toResult(await rig.sendText(JSON.stringify(notice), options));

const toResult = async (response: Response) => {
  const body = (await response.json()) as { errors?: { code: string }[] };
  return { status: response.status, codes: (body.errors ?? []).map((error) => error.code) };
};

const accepted = { status: 202, codes: [] };
const rejection = (status: number, ...codes: string[]) => ({ status, codes });

const receive = (link: ReturnType<typeof sampleLink>) =>
  transact(rig.pool, (tx) => receiveLink(rig.clock)(tx, { link }));

/** Creates a link that this service has received. */
const createKnownLink = async (): Promise<string> => {
  const link = sampleLink();
  await receive(link);
  return link.id;
};

const readCounter = async (metric: string, labels: Record<string, string>): Promise<number> => {
  const metricData = await rig.metrics.getSingleMetric(metric)?.get();
  const hasLabels = (entryLabels: object) =>
    Object.entries(labels).every(([name, value]) => Reflect.get(entryLabels, name) === value);
  return metricData?.values.find((entry) => hasLabels(entry.labels))?.value ?? 0;
};
const countNotices = (outcome: string, provider = "acme") =>
  readCounter("payment_links_settlement_notices_total", { provider, outcome });

describe("POST /settlement-notices/<provider>", () => {
  test("stores a payment of a known link and publishes its full state, 202 (rules NOTICE-1 and NOTICE-3)", async () => {
    const paymentLinkId = await createKnownLink();
    const notice = sampleNotice({
      paymentLinkId,
      amount: "12345678901234567.123456",
      tokenAddress: usdc.address.toLowerCase(),
      destinationAddress: owner.toLowerCase(),
    });
    const countBefore = await countNotices("published");
    expect(await sendNotice(notice)).toEqual(accepted);

    const [payment, ...duplicates] = await readPayments(rig.pool, notice.id);
    expect(duplicates).toEqual([]);
    expect(payment).toMatchObject({ version: 1, status: "settled", paymentLinkId });
    expect(payment?.id).toMatch(/^tx_/);
    expect(await readEvents(rig.pool, paymentLinkId)).toEqual([
      {
        type: "settlement.settled",
        data: {
          id: payment?.id,
          version: 1,
          source: "provider:acme",
          sourceId: notice.id,
          paymentLinkId,
          status: "settled",
          amount: "12345678901234567.123456",
          tokenAddress: usdc.address,
          chainId: "8453",
          destinationAddress: owner,
          sourceTransaction: payerTransaction,
          occurredAt: "2026-11-21T09:58:00.000Z",
          firstSeenAt: rig.clock.now().toISOString(),
          blockNumber: null,
        },
      },
    ]);
    expect(await countNotices("published")).toBe(countBefore + 1);
  });

  test("increments the version from processing to settled and uses the final notice", async () => {
    const paymentLinkId = await createKnownLink();
    const processingNotice = sampleNotice({
      paymentLinkId,
      status: "processing",
      amount: "11",
      sourceTransaction: null,
    });
    expect(await sendNotice(processingNotice)).toEqual(accepted);
    rig.clock.advance(1_000);
    const settled = {
      ...processingNotice,
      status: "settled",
      amount: "10.5",
      sourceTransaction: "0xfeed",
    };
    expect(await sendNotice(settled)).toEqual(accepted);
    expect(await readPayments(rig.pool, processingNotice.id)).toMatchObject([
      { version: 2, status: "settled", amount: "10.5" },
    ]);
    const [first, last, ...otherEvents] = await readEvents(rig.pool, paymentLinkId);
    expect(otherEvents).toEqual([]);
    expect(first).toMatchObject({
      type: "settlement.processing",
      data: { version: 1, amount: "11" },
    });
    expect(last).toEqual({
      type: "settlement.settled",
      data: {
        ...first?.data,
        version: 2,
        status: "settled",
        amount: "10.5",
        sourceTransaction: "0xfeed",
      },
    });
  });

  test("publishes a failed payment as failed", async () => {
    const paymentLinkId = await createKnownLink();
    expect(await sendNotice(sampleNotice({ paymentLinkId, status: "failed" }))).toEqual(accepted);
    expect(await readEvents(rig.pool, paymentLinkId)).toMatchObject([
      { type: "settlement.failed" },
    ]);
  });

  test("answers a repeat, a late processing and a contradiction with 202 and changes nothing (rule NOTICE-5)", async () => {
    const paymentLinkId = await createKnownLink();
    const notice = sampleNotice({ paymentLinkId });
    const conflicts = () =>
      readCounter("payment_links_settlement_conflicts_total", { provider: "acme" });
    const countBefore = { repeated: await countNotices("repeated"), conflicts: await conflicts() };
    expect(await sendNotice(notice)).toEqual(accepted);
    const [storedPayment] = await readPayments(rig.pool, notice.id);

    expect(await sendNotice({ ...notice, amount: 10.5 })).toEqual(accepted);
    expect(await sendNotice({ ...notice, status: "processing", amount: "9" })).toEqual(accepted);
    expect(await countNotices("repeated")).toBe(countBefore.repeated + 2);
    expect(await conflicts()).toBe(countBefore.conflicts);

    expect(await sendNotice({ ...notice, status: "failed" })).toEqual(accepted);
    expect(await sendNotice({ ...notice, amount: "1000" })).toEqual(accepted);
    expect(await sendNotice({ ...notice, paymentLinkId: await createKnownLink() })).toEqual(
      accepted,
    );
    expect(await conflicts()).toBe(countBefore.conflicts + 3);

    expect(await readPayments(rig.pool, notice.id)).toEqual([storedPayment]);
    expect(await readEvents(rig.pool, paymentLinkId)).toHaveLength(1);
  });

  test("treats the same id from two providers as two payments", async () => {
    const paymentLinkId = await createKnownLink();
    const notice = sampleNotice({ paymentLinkId });
    expect(await sendNotice(notice)).toEqual(accepted);
    expect(await sendNotice(notice, { provider: "other", secret: secrets.other })).toEqual(
      accepted,
    );
    const events = await readEvents(rig.pool, paymentLinkId);
    expect(events.map((event) => event.data.source)).toEqual(["provider:acme", "provider:other"]);
    expect(new Set(events.map((event) => event.data.id)).size).toBe(2);
  });

  test("defers a payment of an unknown link and publishes it once the link is received (rule NOTICE-3)", async () => {
    const link = sampleLink();
    const [firstNotice, secondNotice] = [1, 2].map(() => sampleNotice({ paymentLinkId: link.id }));
    const countBefore = await countNotices("parked");
    expect(await sendNotice({ ...firstNotice, status: "processing" })).toEqual(accepted);
    expect(await sendNotice({ ...secondNotice })).toEqual(accepted);
    expect(await sendNotice({ ...firstNotice, status: "settled" })).toEqual(accepted);
    expect(await sendNotice({ ...secondNotice })).toEqual(accepted);
    expect(await readEvents(rig.pool, link.id)).toEqual([]);
    expect(await countNotices("parked")).toBe(countBefore + 3);

    await receive(link);
    const events = await readEvents(rig.pool, link.id);
    expect(events.map(({ type, data }) => [type, data.sourceId, data.version])).toEqual([
      ["settlement.settled", firstNotice?.id, 1],
      ["settlement.settled", secondNotice?.id, 1],
    ]);
  });

  test("defers a payment whose link id cannot exist, at any length", async () => {
    const countBefore = await countNotices("parked");
    for (const paymentLinkId of ["n".repeat(65), "\u{1f600}".repeat(200)]) {
      expect(await sendNotice(sampleNotice({ paymentLinkId }))).toEqual(accepted);
    }
    expect(await countNotices("parked")).toBe(countBefore + 2);
  });

  test("stores and publishes a payment on an unknown chain or in an unknown token (rule NOTICE-6)", async () => {
    const paymentLinkId = await createKnownLink();
    const unknownToken = {
      chainId: "424242",
      tokenAddress: "tok",
      amount: "0.1234567890123456789",
    };
    expect(await sendNotice(sampleNotice({ paymentLinkId, ...unknownToken }))).toEqual(accepted);
    expect(await readEvents(rig.pool, paymentLinkId)).toMatchObject([{ data: unknownToken }]);
  });

  test("accepts every notice of a burst from one address (rule API-21)", async () => {
    const notice = sampleNotice({ paymentLinkId: await createKnownLink() });
    const results = await Promise.all(Array.from({ length: 20 }, () => sendNotice(notice)));
    expect(results).toEqual(results.map(() => accepted));
  });

  describe("amounts with more decimals than the token (rule NOTICE-6)", () => {
    test("returns 422 and stores nothing if the link is known", async () => {
      const paymentLinkId = await createKnownLink();
      const notice = sampleNotice({ paymentLinkId, amount: "1.0000001" });
      expect(await sendNotice(notice)).toEqual(rejection(422, "decimal_max_places"));
      expect(await readPayments(rig.pool, notice.id)).toEqual([]);
      expect(await sendNotice({ ...notice, amount: "1.0000010" })).toEqual(accepted);
    });

    test("stores and publishes them unchanged if the link is unknown, and answers a repeat with 202", async () => {
      const link = sampleLink();
      const notice = sampleNotice({ paymentLinkId: link.id, amount: "1.0000001" });
      expect(await sendNotice(notice)).toEqual(accepted);
      await receive(link);
      expect(await readEvents(rig.pool, link.id)).toMatchObject([
        { data: { amount: "1.0000001" } },
      ]);
      expect(await sendNotice(notice)).toEqual(accepted);
    });
  });

  describe("authentication (rule NOTICE-2)", () => {
    test("returns 404 for an unknown provider, whatever the request contains", async () => {
      const text = JSON.stringify(sampleNotice());
      for (const provider of ["nobody", "toString", "__proto__", "ACME", "a%2Fb", "%ff"]) {
        expect(await toResult(await rig.sendText(text, { provider }))).toEqual(
          rejection(404, "NOT_FOUND"),
        );
      }
      const countBefore = await countNotices("unknown_provider", "");
      expect(await toResult(await rig.post("nobody", "{", {}))).toEqual(
        rejection(404, "NOT_FOUND"),
      );
      expect(await countNotices("unknown_provider", "")).toBe(countBefore + 1);
    });

    test("accepts both secrets during a rotation, but no other provider's secret", async () => {
      const notice = sampleNotice();
      expect(await sendNotice(notice, { secret: secrets.acme })).toEqual(accepted);
      expect(await sendNotice(notice, { secret: secrets.acmeNext })).toEqual(accepted);
      expect(await sendNotice(notice, { secret: secrets.other })).toEqual(
        rejection(401, "INVALID_SIGNATURE"),
      );
    });

    test.each([
      ["300 s old", -300, 202],
      ["301 s old", -301, 401],
      ["300 s ahead", 300, 202],
      ["301 s ahead", 301, 401],
    ])("answers a notice that is %s with %s", async (_what, secondCount, status) => {
      const signedAt = new Date(rig.clock.now().getTime() + secondCount * 1000);
      expect(await sendNotice(sampleNotice(), { signedAt })).toMatchObject({ status });
    });

    test("requires each header and stores nothing for a rejected notice", async () => {
      const notice = sampleNotice();
      for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
        const result = await sendNotice(notice, { headers: { [name]: "" } });
        expect(result).toEqual(rejection(401, "INVALID_SIGNATURE"));
      }
      expect(await readPayments(rig.pool, notice.id)).toEqual([]);
    });

    test("never parses an unsigned body: malformed content returns 401, not 422", async () => {
      for (const text of ["", "{", "[]", "\u0000", "null"]) {
        const result = await toResult(await rig.post("acme", text, {}));
        expect(result).toEqual(rejection(401, "INVALID_SIGNATURE"));
      }
    });

    test("returns 401 for a body with one changed byte", async () => {
      const text = JSON.stringify(sampleNotice({ amount: "10" }));
      const headers = signedHeaders(text);
      const alteredText = text.replace('"10"', '"90"');
      expect(await toResult(await rig.post("acme", alteredText, headers))).toEqual(
        rejection(401, "INVALID_SIGNATURE"),
      );
      expect(await toResult(await rig.post("acme", text, headers))).toEqual(accepted);
    });

    test("verifies and stores non-ASCII text unchanged", async () => {
      const paymentLinkId = await createKnownLink();
      const id = `zahlung-äöü-💶-${newId("evt")}`;
      expect(await sendNotice(sampleNotice({ id, paymentLinkId }))).toEqual(accepted);
      expect(await readEvents(rig.pool, paymentLinkId)).toMatchObject([{ data: { sourceId: id } }]);
    });

    test("returns 413 for a large body and 415 for a compressed one before it checks the signature", async () => {
      const largeBodyResponse = await rig.post("acme", "x".repeat(64 * 1024 + 1), {});
      expect(await toResult(largeBodyResponse)).toEqual(rejection(413, "PAYLOAD_TOO_LARGE"));
      const compressedResponse = await rig.post("acme", "x", { "content-encoding": "gzip" });
      expect(await toResult(compressedResponse)).toEqual(
        rejection(415, "UNSUPPORTED_CONTENT_ENCODING"),
      );
    });

    test("returns 405 for another method", async () => {
      const result = await fetch(`${rig.publicUrl}/settlement-notices/acme`);
      expect(result.headers.get("allow")).toBe("POST");
      expect(await toResult(result)).toEqual(rejection(405, "METHOD_NOT_ALLOWED"));
    });
  });

  describe("a signed notice with invalid content returns 422 (rule NOTICE-1)", () => {
    const tooLongText = "x".repeat(201);
    test.each<[string, NoticeOverrides, ...string[]]>([
      ["non-string id", { id: 7 }, "string_type"],
      ["empty id", { id: "" }, "string_too_short"],
      ["long id", { id: tooLongText }, "string_too_long"],
      ["id with NUL", { id: "a\u0000" }, "string_pattern_mismatch"],
      ["null id", { id: null }, "string_type"],
      ["non-string link", { paymentLinkId: {} }, "string_type"],
      ["long link", { paymentLinkId: tooLongText }, "string_too_long"],
      ["unknown status", { status: "pending" }, "enum"],
      ["non-string status", { status: 1 }, "enum"],
      ["amount of another type", { amount: true }, "decimal_type"],
      ["null amount", { amount: null }, "decimal_type"],
      ["non-numeric amount", { amount: "ten" }, "decimal_parsing"],
      ["infinite amount", { amount: "Infinity" }, "finite_number"],
      ["amount NaN", { amount: "nan" }, "finite_number"],
      ["amount 0 (rule STATE-11)", { amount: "0" }, "greater_than"],
      ["amount 0.000", { amount: "0.000" }, "greater_than"],
      ["negative amount", { amount: "-1" }, "greater_than"],
      ["amount with 79 digits", { amount: "1".repeat(79) }, "decimal_max_digits"],
      ["amount with a huge exponent", { amount: "1e999999999" }, "decimal_max_digits"],
      ["amount with a huge negative exponent", { amount: "1e-999999" }, "decimal_max_digits"],
      ["amount with 101 decimals", { amount: `0.${"0".repeat(100)}1` }, "decimal_max_digits"],
      ["amount with 79 digits in base units", { amount: "1e72" }, "decimal_max_digits"],
      ["non-string token", { tokenAddress: 1 }, "string_type"],
      ["long token", { tokenAddress: tooLongText }, "string_too_long"],
      ["non-string chain", { chainId: 8453 }, "string_type"],
      ["empty chain", { chainId: "" }, "string_too_short"],
      ["non-string destination", { destinationAddress: [] }, "string_type"],
      ["long destination", { destinationAddress: tooLongText }, "string_too_long"],
      ["non-string source transaction", { sourceTransaction: 5 }, "string_type"],
      ["long source transaction", { sourceTransaction: tooLongText }, "string_too_long"],
      ["non-string time", { occurredAt: 1_700_000_000 }, "datetime_type"],
      ["null time", { occurredAt: null }, "datetime_type"],
      ["malformed time", { occurredAt: "yesterday" }, "datetime_from_date_parsing"],
      ["nonexistent day", { occurredAt: "2026-02-30T00:00:00Z" }, "datetime_from_date_parsing"],
      [
        "year 10000 in UTC",
        { occurredAt: "9999-12-31T23:59:59-14:00" },
        "datetime_from_date_parsing",
      ],
      [
        "several errors",
        { id: 1, status: "x", amount: "0" },
        "string_type",
        "enum",
        "greater_than",
      ],
    ])("%s", async (_what, overrides, ...codes) => {
      expect(await sendNotice(sampleNotice(overrides))).toEqual(rejection(422, ...codes));
    });

    test.each(Object.keys(sampleNotice()).filter((name) => name !== "sourceTransaction"))(
      "missing %s",
      async (name) => {
        expect(await sendNotice(sampleNotice({ [name]: undefined }))).toEqual(
          rejection(422, "missing"),
        );
      },
    );

    test("all required fields missing, with one error each", async () => {
      expect(await sendNotice({})).toEqual(
        rejection(422, ...Array.from({ length: 8 }, () => "missing")),
      );
    });

    test.each([
      ["an empty body", "", "missing"],
      ["broken JSON", '{"id":', "json_invalid"],
      ["a list", "[]", "model_attributes_type"],
      ["null", "null", "model_attributes_type"],
      ["a number", "5", "model_attributes_type"],
    ])("%s", async (_what, text, code) => {
      expect(await toResult(await rig.sendText(text))).toEqual(rejection(422, code));
    });

    test("bytes that are not UTF-8", async () => {
      const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
      const headers = signedHeaders(bytes);
      expect(await toResult(await rig.post("acme", bytes, headers))).toEqual(
        rejection(422, "json_invalid"),
      );
    });

    test("a content type that is not JSON", async () => {
      const headers = { "content-type": "text/plain" };
      const result = await sendNotice(sampleNotice(), { headers });
      expect(result).toEqual(rejection(422, "model_attributes_type"));
    });
  });

  test.each<[string, NoticeOverrides]>([
    ["a numeric amount, parsed from its source text", { amount: 0.1 }],
    ["an exponent", { amount: "1e3" }],
    ["78 digits in base units", { amount: "9".repeat(72) }],
    ["no source transaction", { sourceTransaction: undefined }],
    ["a null source transaction", { sourceTransaction: null }],
    ["78 digits in an unknown token", { tokenAddress: "t", amount: `1.${"3".repeat(77)}` }],
    ["the smallest amount that can be parsed", { tokenAddress: "t", amount: "1e-100" }],
    ["200 characters outside the Basic Multilingual Plane", { id: "💶".repeat(200) }],
    ["unknown fields", { payer: "x", metadata: { a: [1] } }],
    ["a time without an offset", { occurredAt: "2026-11-21T10:00:00" }],
    ["a payment from long ago", { occurredAt: "0001-01-01T00:00:00Z" }],
  ])("accepts %s", async (_what, overrides) => {
    const paymentLinkId = await createKnownLink();
    expect(await sendNotice(sampleNotice({ paymentLinkId, ...overrides }))).toEqual(accepted);
    expect(await readEvents(rig.pool, paymentLinkId)).toHaveLength(1);
  });

  test("never logs a secret or a signature, whatever went wrong", async () => {
    const text = JSON.stringify(sampleNotice());
    const headers = signedHeaders(text);
    await rig.post("acme", text, headers);
    await rig.post("acme", `${text} `, headers);
    await rig.post("acme", text, { ...headers, "content-type": "text/plain" });
    const log = rig.logLines.join("");
    expect(log).toContain("settlement notice stored");
    expect(log).toContain("request rejected");
    const signature = headers["webhook-signature"]?.slice(3) ?? "";
    expect(signature).toHaveLength(44);
    for (const secret of [...Object.values(secrets), signature]) {
      expect(log).not.toContain(secret.replace("whsec_", ""));
    }
    for (const letter of ["a", "b", "c"]) expect(log).not.toContain(letter.repeat(32));
  });
});

const signedHeaders = (text: string | Buffer): Record<string, string> => {
  const timestamp = String(Math.floor(rig.clock.now().getTime() / 1000));
  const key = Buffer.from(secrets.acme.slice("whsec_".length), "base64");
  const hmac = createHmac("sha256", key).update(`msg_2.${timestamp}.`).update(text);
  return {
    "webhook-id": "msg_2",
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${hmac.digest("base64")}`,
  };
};

describe("a notice whose body never arrives", () => {
  /** Sends only the headers. Returns the status, without waiting for the rest of the response. */
  const sendHeadersOnly = async (
    provider: string,
    headers: Record<string, string>,
  ): Promise<string> => {
    const socket = connect(Number(new URL(rig.publicUrl).port), "127.0.0.1");
    try {
      let text = "";
      socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
      const lines = Object.entries({ "Content-Type": "application/json", ...headers });
      const headerText = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
      socket.write(`POST /settlement-notices/${provider} HTTP/1.1\r\nHost: x\r\n${headerText}\r\n`);
      await waitUntil("the response arrives", () => text.includes("\r\n"));
      return text.slice("HTTP/1.1 ".length, "HTTP/1.1 401".length);
    } finally {
      socket.destroy();
    }
  };
  const nowSeconds = () => Math.floor(rig.clock.now().getTime() / 1000);
  const validHeaders = () => ({
    "Content-Length": "100",
    "webhook-id": "msg_1",
    "webhook-timestamp": String(nowSeconds()),
    "webhook-signature": `v1,${"A".repeat(43)}=`,
  });

  test.each([
    ["an unknown provider", "nobody", {}, "404"],
    ["no id", "acme", { "webhook-id": "" }, "401"],
    ["no timestamp", "acme", { "webhook-timestamp": "" }, "401"],
    ["a stale timestamp", "acme", { "webhook-timestamp": "1" }, "401"],
    ["a malformed timestamp", "acme", { "webhook-timestamp": "now" }, "401"],
    ["no signature", "acme", { "webhook-signature": "" }, "401"],
    ["a malformed signature", "acme", { "webhook-signature": "v1,short v2,AAAA" }, "401"],
    ["a large body", "acme", { "Content-Length": "65537" }, "413"],
    ["a compressed body", "acme", { "Content-Encoding": "gzip" }, "415"],
  ])(
    "is rejected by its headers: %s (rule NOTICE-2)",
    async (_what, provider, overrides, status) => {
      expect(await sendHeadersOnly(provider, { ...validHeaders(), ...overrides })).toBe(status);
    },
  );

  test("gets 429 before its body is read if its address has sent thousands (rule API-21)", async () => {
    // Refills the rate-limit bucket, which other tests may have used.
    rig.clock.advance(10_000);
    const sendUnsigned = async () => {
      const response = await rig.post("acme", "{}", {});
      await response.arrayBuffer();
      return response.status;
    };
    const statuses = new Set<number>();
    for (let round = 0; round < 20; round += 1) {
      for (const status of await Promise.all(Array.from({ length: 100 }, sendUnsigned))) {
        statuses.add(status);
      }
    }
    expect([...statuses]).toEqual([401]);
    expect(await sendHeadersOnly("acme", validHeaders())).toBe("429");
    rig.clock.advance(10_000);
    expect(await sendNotice(sampleNotice({ paymentLinkId: await createKnownLink() }))).toEqual(
      accepted,
    );
  });
});
