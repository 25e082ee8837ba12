import { createHmac, createSecretKey } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import { judgeSignature } from "./notice-signature.ts";

const bytesOf = (letter: string): Buffer => Buffer.from(letter.repeat(32));
const oracleOf = (bytes: Buffer) => new Webhook(`whsec_${bytes.toString("base64")}`);
const keyOf = (bytes: Buffer) => createSecretKey(bytes);

const mine = bytesOf("a");
const next = bytesOf("b");
const stranger = bytesOf("z");
const now = new Date("2026-11-21T10:00:00.400Z");
const seconds = (date: Date): string => String(Math.floor(date.getTime() / 1000));
const after = (secondCount: number): Date => new Date(now.getTime() + secondCount * 1000);

const sample = (
  change: Partial<{ id: string; at: Date; text: string; secret: Buffer; signature: string }> = {},
) => {
  const { id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", at = now, text = '{"amount":"1"}' } = change;
  const signature = change.signature ?? oracleOf(change.secret ?? mine).sign(id, at, text);
  return { headers: { id, timestamp: seconds(at), signature }, body: Buffer.from(text), now };
};

describe("judgeSignature", () => {
  test("accepts what the reference library signs, non-ASCII and empty bodies included", () => {
    for (const text of ["{}", "", '{"id":"zahlung-äöü-💶"}', " \n{}\r\n", '{"a":1.50}']) {
      expect(judgeSignature({ ...sample({ text }), keys: [keyOf(mine)] })).toBe("valid");
    }
  });

  test("agrees with the specification's own example (rule NOTICE-2)", () => {
    const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
    const headers = {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: "1614265330",
      signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const body = Buffer.from('{"test": 2432232314}');
    const signed = { headers, body, keys: [keyOf(key)], now: new Date(1_614_265_330_000) };
    expect(judgeSignature(signed)).toBe("valid");
  });

  test("judges as the reference library does, whatever single thing was changed (rule NOTICE-2)", () => {
    const at = new Date();
    const good = { ...sample({ at }), now: at, keys: [keyOf(mine)] };
    const { id, timestamp, signature } = good.headers;
    const flip = (text: string, index: number): string => {
      const replaced = text.charAt(index) === "A" ? "B" : "A";
      return `${text.slice(0, index)}${replaced}${text.slice(index + 1)}`;
    };
    const changed = [
      good,
      ...[...signature].map((_, index) => withHeaders(good, { signature: flip(signature, index) })),
      ...[...id].map((_, index) => withHeaders(good, { id: flip(id, index) })),
      ...[...good.body.toString()].map((_, index) =>
        withBody(good, flip(good.body.toString(), index)),
      ),
      withHeaders(good, { timestamp: String(Number(timestamp) + 1) }),
      withHeaders(good, { signature: `${signature} ${signature}` }),
      withHeaders(good, { signature: `v1a,abc v2,${signature.slice(3)} ${signature}` }),
      withHeaders(good, { signature: signature.slice(3) }),
      withHeaders(good, { signature: `v1,${signature.slice(3, -1)}` }),
      withHeaders(good, { signature: `V1,${signature.slice(3)}` }),
      withHeaders(good, { signature: "v1," }),
    ];
    const verdicts = changed.map((notice) => {
      const verdict = judgeSignature(notice) === "valid";
      expect({ ...notice.headers, verdict }).toEqual({
        ...notice.headers,
        verdict: isAcceptedByOracle(notice),
      });
      return verdict;
    });
    expect(verdicts.filter(Boolean).length).toBeGreaterThanOrEqual(3);
    expect(verdicts.filter((verdict) => !verdict).length).toBeGreaterThan(50);
  });

  test.each([
    [-300, "valid"],
    [-301, "stale"],
    [300, "valid"],
    [301, "stale"],
  ])("a timestamp %i s from the clock is %s", (secondCount, verdict) => {
    const notice = sample({ at: after(secondCount) });
    expect(judgeSignature({ ...notice, keys: [keyOf(mine)] })).toBe(verdict);
  });

  test("while a secret is being rotated either is good, and afterwards the old one is not", () => {
    const [byOld, byNew] = [sample({ secret: mine }), sample({ secret: next })];
    const both = [keyOf(mine), keyOf(next)];
    expect(judgeSignature({ ...byOld, keys: both })).toBe("valid");
    expect(judgeSignature({ ...byNew, keys: both })).toBe("valid");
    expect(judgeSignature({ ...byOld, keys: [keyOf(next)] })).toBe("wrong");
    expect(judgeSignature({ ...byNew, keys: both.slice(0, 1) })).toBe("wrong");
  });

  test("one good signature among several is enough, and none of a stranger's is", () => {
    const byStranger = sample({ secret: stranger });
    const theirs = byStranger.headers.signature;
    const ours = sample().headers.signature;
    const several = { ...byStranger, keys: [keyOf(mine)] };
    expect(judgeSignature(withHeaders(several, { signature: `${theirs} ${ours}` }))).toBe("valid");
    expect(judgeSignature(withHeaders(several, { signature: `${theirs} v2,x` }))).toBe("wrong");
  });

  test("looks at no more than twenty signatures", () => {
    const notice = { ...sample(), keys: [keyOf(mine)] };
    const { signature } = notice.headers;
    const behind = (count: number) => `${"v1,x ".repeat(count)}${signature}`;
    expect(judgeSignature(withHeaders(notice, { signature: behind(19) }))).toBe("valid");
    expect(judgeSignature(withHeaders(notice, { signature: behind(20) }))).toBe("wrong");
  });

  test("a missing header is told apart from a wrong one", () => {
    const notice = { ...sample(), keys: [keyOf(mine)] };
    for (const name of ["id", "timestamp", "signature"]) {
      expect(judgeSignature(withHeaders(notice, { [name]: undefined }))).toBe("missing");
      expect(judgeSignature(withHeaders(notice, { [name]: "" }))).toBe("missing");
    }
  });

  test("a timestamp must be unix seconds and nothing else, also where it is signed so", () => {
    for (const timestamp of [`${seconds(now)}x`, `${seconds(now)}.5`, "1e9", "+1", " 1", "NaN"]) {
      const mac = createHmac("sha256", mine).update(`msg_1.${timestamp}.{}`).digest("base64");
      const headers = { id: "msg_1", timestamp, signature: `v1,${mac}` };
      const notice = { headers, body: Buffer.from("{}"), keys: [keyOf(mine)], now };
      expect(judgeSignature(notice)).toBe("wrong");
    }
  });

  test("an id outside ASCII is signed as the bytes that were on the wire", () => {
    const mac = createHmac("sha256", mine)
      .update(`é.${seconds(now)}.{}`)
      .digest("base64");
    const onTheWire = Buffer.from("é", "utf8").toString("latin1");
    const headers = { id: onTheWire, timestamp: seconds(now), signature: `v1,${mac}` };
    const notice = { headers, body: Buffer.from("{}"), keys: [keyOf(mine)], now };
    expect(judgeSignature(notice)).toBe("valid");
  });

  test("without any key nothing is valid", () => {
    expect(judgeSignature({ ...sample(), keys: [] })).toBe("wrong");
  });
});

type Notice = Parameters<typeof judgeSignature>[0];

const withHeaders = (notice: Notice, headers: Partial<Notice["headers"]>): Notice => ({
  ...notice,
  headers: { ...notice.headers, ...headers },
});

const withBody = (notice: Notice, text: string): Notice => ({ ...notice, body: Buffer.from(text) });

const isAcceptedByOracle = ({ headers, body }: Notice): boolean => {
  try {
    oracleOf(mine).verify(
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
