import { describe, expect, test } from "@jest/globals";
import { signatureHeaders } from "./signature.ts";

const secret = `whsec_${"0123456789abcdef".repeat(4)}`;

const headersAt = (now: string) =>
  signatureHeaders({
    prefix: "Acme",
    secret,
    eventId: "evt_1",
    body: '{"a":"é 💶"}',
    now: new Date(now),
  });

describe("signatureHeaders", () => {
  // The digest was made by Python's hmac module.
  test("sign timestamp, period and body in UTF-8 under the secret as it was shown (rule HOOK-12)", () => {
    expect(headersAt("2026-11-21T10:00:00.000Z")).toEqual({
      "Acme-Signature": "v1=77e457f2c35cad80cfd04d153a64955f2abfa80c4842048f049e4db39265965c",
      "Acme-Timestamp": "1795255200",
      "Acme-Event-Id": "evt_1",
    });
  });

  test("tell the second that has begun, never one to come", () => {
    expect(headersAt("2026-11-21T10:00:00.999Z")).toEqual(headersAt("2026-11-21T10:00:00.000Z"));
  });
});
