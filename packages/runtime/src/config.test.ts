import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import {
  CommaList,
  ConfigError,
  OriginUrl,
  Port,
  RateLimit,
  BooleanFlag,
  parseConfig,
  readSecret,
} from "./config.ts";

const getConfigErrorMessage = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "accepted";
};

describe("parseConfig (rule OPS-4)", () => {
  const schema = z.object({
    PORT: Port.default(8080),
    BASE_URL: OriginUrl,
    RATE: RateLimit,
    LEVEL: z.enum(["info", "debug"]).default("info"),
    TOKEN: z.string().min(16).optional(),
  });

  test("treats an empty variable as missing", () => {
    const config = parseConfig(schema, { PORT: "", BASE_URL: "http://a", RATE: "1:1", TOKEN: "" });
    expect(config).toMatchObject({ PORT: 8080, LEVEL: "info" });
    expect(config.TOKEN).toBeUndefined();
  });

  test("reports every error with its variable's name, in one message", () => {
    const environment = { PORT: "port", RATE: "fast", LEVEL: "loud", TOKEN: "short" };
    expect(getConfigErrorMessage(() => parseConfig(schema, environment)).split("\n")).toEqual([
      "Invalid configuration:",
      "  PORT: must be a port number",
      "  BASE_URL: is missing",
      "  RATE: must be <tokens per second>:<burst>",
      expect.stringMatching(/^ {2}LEVEL: /),
      expect.stringMatching(/^ {2}TOKEN: /),
    ]);
  });

  test("never includes a value, which may be a secret", () => {
    const secret = "hunter2";
    const environment = {
      PORT: secret,
      BASE_URL: `ftp://${secret}@host`,
      RATE: secret,
      LEVEL: secret,
      TOKEN: secret,
    };
    const message = getConfigErrorMessage(() => parseConfig(schema, environment));
    expect(message.split("\n")).toHaveLength(6);
    expect(message).not.toContain(secret);
  });
});

describe("variable formats", () => {
  test.each([
    [Port, "0", 0],
    [Port, "8080", 8080],
    [Port, "65535", 65_535],
    [OriginUrl, "https://pay.example", "https://pay.example"],
    [OriginUrl, "http://127.0.0.1:8080//", "http://127.0.0.1:8080"],
    [OriginUrl, "http://[::1]:8080/", "http://[::1]:8080"],
    [RateLimit, "10:100", { tokensPerSecond: 10, burst: 100 }],
    [RateLimit, "0.5:1", { tokensPerSecond: 0.5, burst: 1 }],
    [CommaList, "a, b ,,c", ["a", "b", "c"]],
    [CommaList, " , ", []],
    [BooleanFlag, "1", true],
    [BooleanFlag, "yes", true],
    [BooleanFlag, "false", false],
  ])("%#: %s parses %j", (schema, value, parsedValue) => {
    expect((schema as z.ZodType).parse(value)).toEqual(parsedValue);
  });

  test.each([
    ["a port", Port, ["65536", "-1", "1.5", "1e3", "0x50", " ", "http"]],
    [
      "an origin",
      OriginUrl,
      ["pay.example", "ftp://a", "https://user:pass@a", "https://a/?q", "https://a/#f", "//a"],
    ],
    ["a rate limit", RateLimit, ["10", "10:", ":10", "0:1", "1:0", "-1:5", "1:1.5", "1:1:1"]],
    ["a flag", BooleanFlag, ["on", "2", "TRUE", " 1"]],
  ])("%s in another format is rejected", (_name, schema, values) => {
    for (const value of values)
      expect([value, schema.safeParse(value).success]).toEqual([value, false]);
  });
});

describe("readSecret (rule OPS-4)", () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "secret-"));
    await writeFile(join(directory, "full"), "from the file\n");
    await writeFile(join(directory, "empty"), "\n");
  });
  afterAll(() => rm(directory, { recursive: true }));

  test.each([
    ["the variable", { KEY: "value" }, "value"],
    ["an empty variable", { KEY: "" }, undefined],
    ["neither", {}, undefined],
    ["an empty …_FILE", { KEY: "value", KEY_FILE: "" }, "value"],
  ])("given %s", (_name, environment, secret) => {
    expect(readSecret(environment, "KEY")).toBe(secret);
  });

  test("reads the file of …_FILE without its last newline", () => {
    expect(readSecret({ KEY_FILE: join(directory, "full") }, "KEY")).toBe("from the file");
  });

  test.each([
    ["a missing file", "none", undefined, "the file cannot be read"],
    ["an empty file", "empty", undefined, "the file is empty"],
    ["both variable and file", "full", "hunter2", "KEY is also set"],
  ])("rejects %s with the variable's name and no content", (_name, file, KEY, expectedReason) => {
    const message = getConfigErrorMessage(() =>
      readSecret({ KEY, KEY_FILE: join(directory, file) }, "KEY"),
    );
    expect(message).toContain(`KEY_FILE: ${expectedReason}`);
    expect(message).not.toMatch(/hunter2|from the file/);
  });
});
