import { createHmac, createSecretKey } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import { verifySignature } from "./notice-signature.ts";

const repeatLetter = (letter: string): Buffer => Buffer.from(letter.repeat(32));
const createReferenceWebhook = (bytes: Buffer) => new Webhook(`whsec_${bytes.toString("base64")}`);
const toKeyObject = (bytes: Buffer) => createSecretKey(bytes);

const currentSecret = repeatLetter("a");
const nextSecret = repeatLetter("b");
const unknownSecret = repeatLetter("z");
const now = new Date("2026-11-21T10:00:00.400Z");
const toUnixSeconds = (date: Date): string => String(Math.floor(date.getTime() / 1000));
const secondsFromNow = (offsetSeconds: number): Date =>
  new Date(now.getTime() + offsetSeconds * 1000);

const signSample = (
  overrides: Partial<{
    id: string;
    at: Date;
    text: string;
    secret: Buffer;
    signature: string;
  }> = {},
) => {
  const { id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", at = now, text = '{"amount":"1"}' } = overrides;
  const signature =
    overrides.signature ??
    createReferenceWebhook(overrides.secret ?? currentSecret).sign(id, at, text);
  return { headers: { id, timestamp: toUnixSeconds(at), signature }, body: Buffer.from(text), now };
};

describe("verifySignature", () => {
  test("accepts what the reference library signs, including empty and non-ASCII bodies", () => {
    for (const text of ["{}", "", '{"id":"zahlung-äöü-💶"}', " \n{}\r\n", '{"a":1.50}']) {
      expect(verifySignature({ ...signSample({ text }), keys: [toKeyObject(currentSecret)] })).toBe(
        "valid",
      );
    }
  });

  test("accepts the example of the specification (rule NOTICE-2)", () => {
    const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
    const headers = {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: "1614265330",
      signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const body = Buffer.from('{"test": 2432232314}');
    const signedNotice = {
      headers,
      body,
      keys: [toKeyObject(key)],
      now: new Date(1_614_265_330_000),
    };
    expect(verifySignature(signedNotice)).toBe("valid");
  });

  test("agrees with the reference library after any single change (rule NOTICE-2)", () => {
    const signedAt = new Date();
    const validNotice = {
      ...signSample({ at: signedAt }),
      now: signedAt,
      keys: [toKeyObject(currentSecret)],
    };
    const { id, timestamp, signature } = validNotice.headers;
    const flipCharacter = (text: string, index: number): string => {
      const replacement = text.charAt(index) === "A" ? "B" : "A";
      return `${text.slice(0, index)}${replacement}${text.slice(index + 1)}`;
    };
    const changedNotices = [
      validNotice,
      ...[...signature].map((_, index) =>
        withHeaders(validNotice, { signature: flipCharacter(signature, index) }),
      ),
      ...[...id].map((_, index) => withHeaders(validNotice, { id: flipCharacter(id, index) })),
      ...[...validNotice.body.toString()].map((_, index) =>
        withBody(validNotice, flipCharacter(validNotice.body.toString(), index)),
      ),
      withHeaders(validNotice, { timestamp: String(Number(timestamp) + 1) }),
      withHeaders(validNotice, { signature: `${signature} ${signature}` }),
      withHeaders(validNotice, { signature: `v1a,abc v2,${signature.slice(3)} ${signature}` }),
      withHeaders(validNotice, { signature: signature.slice(3) }),
      withHeaders(validNotice, { signature: `v1,${signature.slice(3, -1)}` }),
      withHeaders(validNotice, { signature: `V1,${signature.slice(3)}` }),
      withHeaders(validNotice, { signature: "v1," }),
    ];
    const results = changedNotices.map((notice) => {
      const isAccepted = verifySignature(notice) === "valid";
      expect({ ...notice.headers, verdict: isAccepted }).toEqual({
        ...notice.headers,
        verdict: isAcceptedByReference(notice),
      });
      return isAccepted;
    });
    expect(results.filter(Boolean).length).toBeGreaterThanOrEqual(3);
    expect(results.filter((isAccepted) => !isAccepted).length).toBeGreaterThan(50);
  });

  test.each([
    [-300, "valid"],
    [-301, "stale"],
    [300, "valid"],
    [301, "stale"],
  ])("a timestamp %i s from the clock is %s", (offsetSeconds, expectedVerdict) => {
    const notice = signSample({ at: secondsFromNow(offsetSeconds) });
    expect(verifySignature({ ...notice, keys: [toKeyObject(currentSecret)] })).toBe(
      expectedVerdict,
    );
  });

  test("accepts both secrets during a rotation, and only the new one afterwards", () => {
    const [signedByOldSecret, signedByNewSecret] = [
      signSample({ secret: currentSecret }),
      signSample({ secret: nextSecret }),
    ];
    const bothKeys = [toKeyObject(currentSecret), toKeyObject(nextSecret)];
    expect(verifySignature({ ...signedByOldSecret, keys: bothKeys })).toBe("valid");
    expect(verifySignature({ ...signedByNewSecret, keys: bothKeys })).toBe("valid");
    expect(verifySignature({ ...signedByOldSecret, keys: [toKeyObject(nextSecret)] })).toBe(
      "wrong",
    );
    expect(verifySignature({ ...signedByNewSecret, keys: bothKeys.slice(0, 1) })).toBe("wrong");
  });

  test("accepts one valid signature among several, but none with an unknown secret", () => {
    const signedByUnknownSecret = signSample({ secret: unknownSecret });
    const unknownSignature = signedByUnknownSecret.headers.signature;
    const validSignature = signSample().headers.signature;
    const noticeWithSignatures = { ...signedByUnknownSecret, keys: [toKeyObject(currentSecret)] };
    expect(
      verifySignature(
        withHeaders(noticeWithSignatures, { signature: `${unknownSignature} ${validSignature}` }),
      ),
    ).toBe("valid");
    expect(
      verifySignature(withHeaders(noticeWithSignatures, { signature: `${unknownSignature} v2,x` })),
    ).toBe("wrong");
  });

  test("checks at most 20 signatures", () => {
    const notice = { ...signSample(), keys: [toKeyObject(currentSecret)] };
    const { signature } = notice.headers;
    const putBehindSignatures = (count: number) => `${"v1,x ".repeat(count)}${signature}`;
    expect(verifySignature(withHeaders(notice, { signature: putBehindSignatures(19) }))).toBe(
      "valid",
    );
    expect(verifySignature(withHeaders(notice, { signature: putBehindSignatures(20) }))).toBe(
      "wrong",
    );
  });

  test("distinguishes a missing header from an invalid one", () => {
    const notice = { ...signSample(), keys: [toKeyObject(currentSecret)] };
    for (const name of ["id", "timestamp", "signature"]) {
      expect(verifySignature(withHeaders(notice, { [name]: undefined }))).toBe("missing");
      expect(verifySignature(withHeaders(notice, { [name]: "" }))).toBe("missing");
    }
  });

  test("rejects a timestamp in any format but Unix seconds, even if it is signed", () => {
    for (const timestamp of [
      `${toUnixSeconds(now)}x`,
      `${toUnixSeconds(now)}.5`,
      "1e9",
      "+1",
      " 1",
      "NaN",
    ]) {
      const mac = createHmac("sha256", currentSecret)
        .update(`msg_1.${timestamp}.{}`)
        .digest("base64");
      const headers = { id: "msg_1", timestamp, signature: `v1,${mac}` };
      const notice = { headers, body: Buffer.from("{}"), keys: [toKeyObject(currentSecret)], now };
      expect(verifySignature(notice)).toBe("wrong");
    }
  });

  test("verifies a non-ASCII id by the bytes that were sent", () => {
    const mac = createHmac("sha256", currentSecret)
      .update(`é.${toUnixSeconds(now)}.{}`)
      .digest("base64");
    const wireId = Buffer.from("é", "utf8").toString("latin1");
    const headers = { id: wireId, timestamp: toUnixSeconds(now), signature: `v1,${mac}` };
    const notice = { headers, body: Buffer.from("{}"), keys: [toKeyObject(currentSecret)], now };
    expect(verifySignature(notice)).toBe("valid");
  });

  test("accepts nothing without a key", () => {
    expect(verifySignature({ ...signSample(), keys: [] })).toBe("wrong");
  });
});

type Notice = Parameters<typeof verifySignature>[0];

const withHeaders = (notice: Notice, headers: Partial<Notice["headers"]>): Notice => ({
  ...notice,
  headers: { ...notice.headers, ...headers },
});

const withBody = (notice: Notice, text: string): Notice => ({ ...notice, body: Buffer.from(text) });

const isAcceptedByReference = ({ headers, body }: Notice): boolean => {
  try {
    createReferenceWebhook(currentSecret).verify(
      body.toString(),
      {
        "webhook-id": headers.id ?? "",
        "webhook-timestamp": headers.timestamp ?? "",
        "webhook-signature": headers.signature ?? "",
      },
      { jsonParse: false },
    );
    return true;
  } catch {
    return false;
  }
};
