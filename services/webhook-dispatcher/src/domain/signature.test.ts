import { describe, expect, test } from "@jest/globals";
import { createSignatureHeaders } from "./signature.ts";

const secret = `whsec_${"0123456789abcdef".repeat(4)}`;

const createHeadersAt = (now: string) =>
  createSignatureHeaders({
    prefix: "Acme",
    secret,
    eventId: "evt_1",
    body: '{"a":"é 💶"}',
    now: new Date(now),
  });

describe("createSignatureHeaders", () => {
  // The digest was created with Python's `hmac` module.
  test("signs timestamp, period and body in UTF-8 with the secret as shown to the owner (rule HOOK-12)", () => {
    expect(createHeadersAt("2026-11-21T10:00:00.000Z")).toEqual({
      "Acme-Signature": "v1=77e457f2c35cad80cfd04d153a64955f2abfa80c4842048f049e4db39265965c",
      "Acme-Timestamp": "1795255200",
      "Acme-Event-Id": "evt_1",
    });
  });

  test("rounds the timestamp down to the second", () => {
    expect(createHeadersAt("2026-11-21T10:00:00.999Z")).toEqual(
      createHeadersAt("2026-11-21T10:00:00.000Z"),
    );
  });
});
