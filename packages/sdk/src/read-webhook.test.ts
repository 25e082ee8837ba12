import { createHmac } from "node:crypto";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "@jest/globals";
import { WebhookRefusedError, isWebhook, readWebhook } from "./read-webhook.ts";

const secret = `whsec_${"0123456789abcdef".repeat(4)}`;
const now = () => new Date("2026-11-21T10:00:00.900Z");
const nowSeconds = 1_795_255_200;
const webhook = {
  id: "evt_1",
  type: "payment_link.completed",
  createdAt: "x",
  data: { a: "é 💶" },
};

const signRequest = ({
  body = JSON.stringify(webhook),
  seconds = String(nowSeconds),
  by: signingSecret = secret,
  prefix = "Service",
} = {}) => {
  const digest = createHmac("sha256", signingSecret).update(`${seconds}.${body}`).digest("hex");
  return {
    body,
    headers: { [`${prefix}-Timestamp`]: seconds, [`${prefix}-Signature`]: `v1=${digest}` },
  };
};

const getRejectionReason = async (pendingWebhook: Promise<unknown>): Promise<string> => {
  const error = await pendingWebhook.then(
    () => "no error",
    (thrown: unknown) => thrown,
  );
  return error instanceof WebhookRefusedError ? error.reason : String(error);
};

describe("readWebhook accepts a webhook", () => {
  // The digest was created with Python's `hmac` module.
  test("signed by another implementation", async () => {
    const headers = {
      "Acme-Signature": "v1=77e457f2c35cad80cfd04d153a64955f2abfa80c4842048f049e4db39265965c",
      "Acme-Timestamp": String(nowSeconds),
    };
    const pendingWebhook = readWebhook(
      { body: '{"a":"é 💶"}', headers },
      { secret, headerPrefix: "Acme", now },
    );
    // The signature is valid, but the body is not a webhook. The signature is checked first.
    expect(await getRejectionReason(pendingWebhook)).toBe("body_not_understood");
  });

  test("and returns the verified content even if the caller changes the bytes during the call", async () => {
    const { body, headers } = signRequest();
    const bytes = Buffer.from(body);
    const pendingWebhook = readWebhook({ body: bytes, headers }, { secret, now });
    bytes.write("evt_2", bytes.indexOf("evt_1"));
    expect(await pendingWebhook).toEqual(webhook);
  });

  test("as bytes from any realm, as a view into a larger buffer, and as text", async () => {
    const { body, headers } = signRequest();
    const bytes = Buffer.from(`..${body}..`);
    const slice = bytes.subarray(2, bytes.length - 2);
    const otherRealmBytes = runInNewContext("new Uint8Array(bytes)", {
      bytes: [...slice],
    }) as Uint8Array;
    const { buffer } = Uint8Array.from(slice);
    for (const variant of [slice, new Uint8Array(slice), otherRealmBytes, buffer, body]) {
      expect(await readWebhook({ body: variant, headers }, { secret, now })).toEqual(webhook);
    }
  });

  test("with headers from fetch or Node, in any letter case", async () => {
    const { body, headers } = signRequest();
    const upperCaseHeaders = Object.entries(headers).map(([name, value]) => [
      name.toUpperCase(),
      [value],
    ]);
    const lowerCaseHeaders = Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]);
    for (const variant of [
      new Headers(headers),
      new Map(Object.entries(headers)) as unknown as Headers,
      new Map(lowerCaseHeaders as [string, string][]) as unknown as Headers,
      Object.fromEntries(lowerCaseHeaders),
      Object.fromEntries(upperCaseHeaders),
    ]) {
      expect(await readWebhook({ body, headers: variant }, { secret, now })).toEqual(webhook);
    }
  });

  test("signed with either secret during a rotation", async () => {
    const newSecret = `whsec_${"f".repeat(64)}`;
    for (const signingSecret of [secret, newSecret]) {
      const request = signRequest({ by: signingSecret });
      expect(await readWebhook(request, { secret: [secret, newSecret], now })).toEqual(webhook);
    }
  });

  test("with a timestamp within the tolerance, in the past or future", async () => {
    for (const seconds of [nowSeconds - 299, nowSeconds + 300]) {
      const request = signRequest({ seconds: String(seconds) });
      expect(await readWebhook(request, { secret, now })).toEqual(webhook);
    }
    const oldRequest = signRequest({ seconds: String(nowSeconds - 599) });
    expect(await readWebhook(oldRequest, { secret, now, toleranceSeconds: 600 })).toEqual(webhook);
  });

  test("of an unknown type, which `isWebhook` detects", async () => {
    const request = signRequest({ body: JSON.stringify({ ...webhook, type: "payment_link.new" }) });
    const receivedWebhook = await readWebhook(request, { secret, now });
    expect(isWebhook(receivedWebhook, "payment_link.completed")).toBe(false);
    expect(
      isWebhook(await readWebhook(signRequest(), { secret, now }), "payment_link.completed"),
    ).toBe(true);
  });
});

describe("readWebhook rejects a request", () => {
  const otherSecret = `whsec_${"1".repeat(64)}`;
  const validRequest = signRequest();
  const signature = validRequest.headers["Service-Signature"] ?? "";
  const withSignature = (value: string | string[]) => ({
    ...validRequest,
    headers: { ...validRequest.headers, "Service-Signature": value },
  });

  test.each([
    ["another secret", signRequest({ by: otherSecret })],
    ["a changed body", { ...validRequest, body: validRequest.body.replace("evt_1", "evt_2") }],
    [
      "a changed timestamp",
      {
        ...validRequest,
        headers: { ...validRequest.headers, "Service-Timestamp": `${nowSeconds + 1}` },
      },
    ],
    ["no `v1=`", withSignature(signature.slice(3))],
    ["another version", withSignature(signature.replace("v1", "v2"))],
    ["upper case", withSignature(signature.toUpperCase())],
    ["a truncated digest", withSignature(signature.slice(0, -2))],
    ["nothing after `v1=`", withSignature("v1=")],
  ])("with an invalid signature: %s", async (_why, request) => {
    expect(await getRejectionReason(readWebhook(request, { secret, now }))).toBe("signature_wrong");
  });

  test.each([
    ["one second beyond the tolerance", String(nowSeconds - 300)],
    ["one second too far in the future", String(nowSeconds + 301)],
    ["a plus sign", `+${nowSeconds}`],
    ["a fraction", `${nowSeconds}.5`],
    ["hexadecimal", "0x6b01d1e0"],
    ["an empty header", ""],
  ])("with a correctly signed but invalid timestamp: %s", async (_why, seconds) => {
    expect(await getRejectionReason(readWebhook(signRequest({ seconds }), { secret, now }))).toBe(
      "timestamp_off",
    );
  });

  test.each([
    ["no headers", { body: validRequest.body, headers: {} }],
    ["another prefix", signRequest({ prefix: "Acme" })],
    ["a repeated signature header", withSignature([signature, signature])],
  ])("without exactly one of each header: %s", async (_why, request) => {
    expect(await getRejectionReason(readWebhook(request, { secret, now }))).toBe("header_missing");
  });

  test.each(["", "null", "7", "{", '{"id":"evt_1"}', '{"id":1,"type":"a"}'])(
    "with a correctly signed body that is not a webhook: %s",
    async (body) => {
      const pendingWebhook = readWebhook(signRequest({ body }), { secret, now });
      expect(await getRejectionReason(pendingWebhook)).toBe("body_not_understood");
    },
  );
});

describe("readWebhook throws a TypeError for", () => {
  test.each([
    ["a missing secret", undefined],
    ["an empty secret", ""],
    ["an empty list of secrets", []],
    ["an empty secret in a list", [secret, ""]],
    ["an unset variable converted to text", "undefined"],
    ["the secret's prefix alone", "whsec_"],
    ["a secret without its prefix", secret.slice(6)],
    ["a secret with a trailing line break", `${secret}\n`],
  ])("%s", async (_what, invalidSecret) => {
    const signingSecret = typeof invalidSecret === "string" ? invalidSecret : "";
    const pendingWebhook = readWebhook(signRequest({ by: signingSecret }), {
      secret: invalidSecret as string,
      now,
    });
    await expect(pendingWebhook).rejects.toThrow(TypeError);
  });

  test("a body that is already parsed", async () => {
    const body = webhook as unknown as string;
    await expect(readWebhook({ ...signRequest(), body }, { secret, now })).rejects.toThrow(
      TypeError,
    );
  });
});
