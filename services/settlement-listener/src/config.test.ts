import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ConfigError, readConfig } from "@payment-links/runtime";
import { settlementListenerConfig } from "./config.ts";

const secret = `whsec_${Buffer.from("s".repeat(32)).toString("base64")}`;

const inFile = (text: string): string => {
  const file = join(mkdtempSync(join(tmpdir(), "settlement-listener-")), "secrets");
  writeFileSync(file, text);
  return file;
};

const faultOf = (environment: Record<string, string>): string => {
  try {
    readConfig(settlementListenerConfig, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the configuration was accepted");
};

describe("settlementListenerConfig", () => {
  test("without a variable there are no providers", () => {
    expect(readConfig(settlementListenerConfig, {}).providers.size).toBe(0);
    const empty = { SETTLEMENT_PROVIDER_SECRETS: "" };
    expect(readConfig(settlementListenerConfig, empty).providers.size).toBe(0);
  });

  test.each([
    { SETTLEMENT_PROVIDER_SECRETS: `acme=${secret}` },
    { SETTLEMENT_PROVIDER_SECRETS_FILE: inFile(`acme=${secret}\n`) },
  ])("reads the variable, or the file that its twin names", (environment) => {
    const { providers } = readConfig(settlementListenerConfig, environment);
    expect([...providers.keys()]).toEqual(["acme"]);
  });

  test("a malformed value is told by the variable's name and never repeated", () => {
    const fault = faultOf({ SETTLEMENT_PROVIDER_SECRETS: `acme=${secret},${secret}` });
    expect(fault).toContain("SETTLEMENT_PROVIDER_SECRETS: entry 2 of 2");
    expect(fault).not.toContain(secret.slice(6, 20));
  });

  test("a file that cannot be read is told by the variable's name", () => {
    const fault = faultOf({ SETTLEMENT_PROVIDER_SECRETS_FILE: "/nowhere/secrets" });
    expect(fault).toContain("SETTLEMENT_PROVIDER_SECRETS_FILE: names a file");
  });
});
