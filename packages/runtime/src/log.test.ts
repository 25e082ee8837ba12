import { describe, expect, test } from "@jest/globals";
import { describeError, createLog } from "./log.ts";

type LogLine = Record<string, unknown>;

const captureLog = (level = "info") => {
  const written: string[] = [];
  const log = createLog(
    { service: "links-api", level },
    { write: (text) => void written.push(text) },
  );
  const lines = (): LogLine[] => written.map((text) => JSON.parse(text) as LogLine);
  return { log, written, lines };
};

describe("the log", () => {
  test("writes one JSON line per event, with its level, time and service", () => {
    const { log, written, lines } = captureLog();
    log.info({ link_id: "plink_1" }, "a line\nwith a break");
    log.debug("below the level");
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(/^\{.*\}\n$/);
    expect(lines()[0]).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: "links-api",
      link_id: "plink_1",
      msg: "a line\nwith a break",
    });
  });

  test("has no trace ids without an active trace", () => {
    const { log, lines } = captureLog();
    log.info("a line");
    expect(lines()[0]).not.toHaveProperty("trace_id");
  });

  test("writes a line even for a value that JSON cannot represent", () => {
    const { log, lines } = captureLog();
    const circular: LogLine = { name: "circle" };
    circular["self"] = circular;
    log.info(
      { circle: circular, bytes: Buffer.alloc(3), at: new Date(0), deep: createNested(20) },
      "a line",
    );
    expect(lines()[0]).toMatchObject({
      circle: { name: "circle", self: "[more]" },
      bytes: "[3 bytes]",
      at: "1970-01-01T00:00:00.000Z",
    });
  });
});

describe("redaction", () => {
  const secret = "plk_live_hunter2";

  test.each([
    "key",
    "apiKey",
    "api_key",
    "X-API-Key",
    "authorization",
    "Cookie",
    "set-cookie",
    "password",
    "secret",
    "signingSecret",
    "WEBHOOK_SECRET_KEYS",
    "token",
    "sessionToken",
    "signature",
    "Service-Signature",
    "DATABASE_URL",
    "signInUrl",
  ])("redacts %s at every depth, in lists, in child loggers and next to errors", (name) => {
    const { log, written } = captureLog();
    const field = { [name]: secret };
    log.info(field, "top");
    log.info({ a: { b: { c: { d: field } } } }, "deep");
    log.info({ list: [[field]] }, "in a list");
    log.error({ err: new Error("failed"), request: { headers: field } }, "beside an error");
    expect(written).toHaveLength(4);
    expect(written.join("")).not.toContain(secret);
    expect(written.join("").match(/\[redacted\]/g)).toHaveLength(4);
  });

  test.each(["key", "token", "secret", "password"])(
    "redacts %s in a child logger's bindings",
    (name) => {
      const { log, written } = captureLog();
      log.child({ [name]: secret }).info("a line");
      expect(written.join("")).not.toContain(secret);
    },
  );

  test("keeps fields whose names only resemble secrets", () => {
    const { log, lines } = captureLog();
    const fields = {
      tokenAddress: "0x1",
      token_id: "usdc",
      secretPrefix: "whsec_ab",
      keyId: "k1",
      token: null,
    };
    log.info(fields, "a line");
    expect(lines()[0]).toMatchObject(fields);
  });
});

describe("an error in the log", () => {
  /**
   * Creates an error that contains the statement and its values, like those of database libraries.
   */
  const createQueryError = () =>
    Object.assign(new Error("the query failed", { cause: new Error("deeper") }), {
      code: "23505",
      query: { values: ["hunter2"] },
      detail: "Key (hash)=(hunter2) already exists.",
    });

  test("contains type, message, code, stack and cause, and no other properties", () => {
    const { log, written, lines } = captureLog();
    log.error({ err: createQueryError() }, "request failed");
    expect(lines()[0]?.["err"]).toEqual({
      type: "Error",
      message: "the query failed",
      code: "23505",
      stack: expect.stringContaining("log.test.ts"),
      cause: { type: "Error", message: "deeper", stack: expect.any(String) },
    });
    expect(written.join("")).not.toContain("hunter2");
  });

  test("has the same form anywhere in the line", () => {
    const { log, written, lines } = captureLog();
    log.error(createQueryError());
    log.error({ failures: [{ reason: createQueryError() }] }, "several");
    expect(lines()[0]).toMatchObject({ msg: "the query failed", err: { code: "23505" } });
    expect(lines()[1]).toMatchObject({ failures: [{ reason: { code: "23505" } }] });
    expect(written.join("")).not.toContain("hunter2");
  });

  test.each([["text"], [{ password: "hunter2" }], [null], [7]])(
    "does not repeat the thrown value %j, which is not an Error",
    (thrown) => {
      const { log, written } = captureLog();
      log.error({ err: thrown }, "request failed");
      expect(written.join("")).not.toContain("hunter2");
      expect(describeError(thrown)).toEqual({ message: "a thrown value is not an Error" });
    },
  );

  test("limits a chain of causes, including a cycle", () => {
    const error = new Error("circle");
    error.cause = error;
    expect(JSON.stringify(describeError(error)).split('"circle"')).toHaveLength(6);
  });
});

const createNested = (depth: number): unknown =>
  depth === 0 ? "bottom" : { in: createNested(depth - 1) };
