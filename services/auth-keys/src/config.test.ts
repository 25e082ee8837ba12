import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ConfigError, parseConfig } from "@payment-links/runtime";
import { authKeysConfig } from "./config.ts";

const oidcVariables = { OIDC_ISSUER: "https://id.example/tenant/", OIDC_CLIENT_ID: "links" };

const getConfigError = (environment: Record<string, string>): string => {
  try {
    parseConfig(authKeysConfig, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the configuration was accepted");
};

describe("authKeysConfig", () => {
  test("without variables there are live keys and no identity provider", () => {
    const config = parseConfig(authKeysConfig, { OIDC_ISSUER: "" });
    expect(config).toEqual({
      apiKeyMode: "live",
      oidc: undefined,
      signUp: "open",
      signInMethods: ["link", "siwe", "oidc", "passkey"],
      leakedKeysPublicKeys: new Map(),
      walletDelayMs: 0,
      auditLogDays: 0,
      rpcUrls: new Map(),
    });
  });

  test.each([
    ["production", { NODE_ENV: "production" }, "closed"],
    ["development", { NODE_ENV: "development" }, "open"],
    ["a start that names no mode", {}, "open"],
    ["production that opens it", { NODE_ENV: "production", SIGN_UP: "open" }, "open"],
    ["development that closes it", { SIGN_UP: "closed" }, "closed"],
  ])("sign-up in %s: %j makes it %s (rule CALLER-37)", (_, environment, signUp) => {
    expect(parseConfig(authKeysConfig, environment).signUp).toBe(signUp);
  });

  test("names the providers of chains for contract wallets, and never repeats one", () => {
    const { rpcUrls } = parseConfig(authKeysConfig, {
      SIGN_IN_RPC_URLS: "8453=https://rpc.example/key,8453=https://other.example",
    });
    expect(rpcUrls.get("8453")).toEqual(["https://rpc.example/key", "https://other.example"]);
    const configError = getConfigError({ SIGN_IN_RPC_URLS: "8453=wss://rpc.example/key" });
    expect(configError).toContain("SIGN_IN_RPC_URLS");
    expect(configError).not.toContain("rpc.example");
  });

  test("a provider that is named twice for a chain is refused, unless its host is declared (rule CHAIN-31)", () => {
    const SIGN_IN_RPC_URLS = "8453=https://rpc.example/key,8453=https://rpc.example/other";
    expect(getConfigError({ SIGN_IN_RPC_URLS })).toContain(
      "SIGN_IN_RPC_URLS: entry 2 of 2 has the host of entry 1",
    );
    const { rpcUrls } = parseConfig(authKeysConfig, {
      SIGN_IN_RPC_URLS,
      INDEPENDENT_RPC_HOSTS: "rpc.example",
    });
    expect(rpcUrls.get("8453")).toHaveLength(2);
  });

  test("takes a delay for default wallets in seconds, up to 30 days", () => {
    const parseTestConfig = (WALLET_CHANGE_DELAY: string) =>
      parseConfig(authKeysConfig, { WALLET_CHANGE_DELAY }).walletDelayMs;
    expect(parseTestConfig("86400")).toBe(86_400_000);
    expect(parseTestConfig("2592000")).toBe(2_592_000_000);
    for (const invalidValue of ["2592001", "-1", "0.5", "1d"])
      expect(() => parseTestConfig(invalidValue)).toThrow();
  });

  test("keeps the audit log for ever, or for 30 days and more", () => {
    const parseTestConfig = (AUDIT_LOG_DAYS: string) =>
      parseConfig(authKeysConfig, { AUDIT_LOG_DAYS });
    expect(parseConfig(authKeysConfig, {}).auditLogDays).toBe(0);
    for (const days of [0, 30, 36_500])
      expect(parseTestConfig(String(days)).auditLogDays).toBe(days);
    for (const invalidValue of ["1", "29", "-1", "36501", "1.5"]) {
      expect(() => parseTestConfig(invalidValue)).toThrow(/AUDIT_LOG_DAYS/);
    }
  });

  test("takes a scanner's public key as a PEM file has it, on P-256 alone", () => {
    const createPublicKeyBase64 = (namedCurve: string) =>
      generateKeyPairSync("ec", { namedCurve })
        .publicKey.export({ type: "spki", format: "der" })
        .toString("base64");
    const parseTestConfig = (namedCurve: string) =>
      parseConfig(authKeysConfig, {
        LEAKED_KEYS_PUBLIC_KEYS: `id.1=${createPublicKeyBase64(namedCurve)}`,
      });
    expect([...parseTestConfig("prime256v1").leakedKeysPublicKeys.keys()]).toEqual(["id.1"]);
    expect(() => parseTestConfig("secp256k1")).toThrow(ConfigError);
  });

  test("closes doors: ways in, groups of the provider, new accounts", () => {
    const config = parseConfig(authKeysConfig, {
      ...oidcVariables,
      SIGN_UP: "oidc",
      SIGN_IN_METHODS: "oidc, link",
      OIDC_ALLOWED_GROUPS: "payments, finance team",
    });
    expect(config.signUp).toBe("oidc");
    expect(config.signInMethods).toEqual(["oidc", "link"]);
    expect(config.oidc?.allowedGroups).toEqual(["payments", "finance team"]);
  });

  test("takes an issuer as it is written, without a secret and with the usual scopes", () => {
    expect(parseConfig(authKeysConfig, oidcVariables).oidc).toEqual({
      issuer: "https://id.example/tenant/",
      clientId: "links",
      clientSecret: undefined,
      scopes: "openid profile",
      allowedGroups: undefined,
    });
  });

  test("reads the secret, or the file that its twin names", () => {
    const file = join(mkdtempSync(join(tmpdir(), "auth-keys-")), "secret");
    writeFileSync(file, "hush\n");
    for (const secret of [{ OIDC_CLIENT_SECRET: "hush" }, { OIDC_CLIENT_SECRET_FILE: file }]) {
      const { oidc } = parseConfig(authKeysConfig, { ...oidcVariables, ...secret });
      expect(oidc?.clientSecret).toBe("hush");
    }
  });

  test.each(["http://localhost:1", "http://127.0.0.1:1/realm", "http://[::1]:1"])(
    "takes %s, as that is this very machine",
    (issuer) => {
      const { oidc } = parseConfig(authKeysConfig, { ...oidcVariables, OIDC_ISSUER: issuer });
      expect(oidc?.issuer).toBe(issuer);
    },
  );

  test.each<[string, Record<string, string>, string]>([
    ["an issuer alone", { OIDC_ISSUER: oidcVariables.OIDC_ISSUER }, "OIDC_CLIENT_ID"],
    ["a client alone", { OIDC_CLIENT_ID: "links" }, "OIDC_ISSUER"],
    ["a secret alone", { OIDC_CLIENT_SECRET: "hush" }, "OIDC_ISSUER"],
    ["scopes alone", { OIDC_SCOPES: "openid" }, "OIDC_ISSUER"],
    ["plain http", { ...oidcVariables, OIDC_ISSUER: "http://id.example" }, "OIDC_ISSUER"],
    [
      "http like loopback",
      { ...oidcVariables, OIDC_ISSUER: "http://localhost.evil.example" },
      "OIDC_ISSUER",
    ],
    ["no URL", { ...oidcVariables, OIDC_ISSUER: "id.example" }, "OIDC_ISSUER"],
    ["a query", { ...oidcVariables, OIDC_ISSUER: "https://id.example/?a=b" }, "OIDC_ISSUER"],
    ["credentials", { ...oidcVariables, OIDC_ISSUER: "https://a:b@id.example" }, "OIDC_ISSUER"],
    ["scopes without openid", { ...oidcVariables, OIDC_SCOPES: "profile" }, "OIDC_SCOPES"],
    ["scopes with two blanks", { ...oidcVariables, OIDC_SCOPES: "openid  profile" }, "OIDC_SCOPES"],
    ["another mode", { API_KEY_MODE: "demo" }, "API_KEY_MODE"],
    [
      "a scanner's key that is none",
      { LEAKED_KEYS_PUBLIC_KEYS: "a=QUJD" },
      "LEAKED_KEYS_PUBLIC_KEYS",
    ],
    ["groups alone", { OIDC_ALLOWED_GROUPS: "payments" }, "OIDC_ISSUER"],
    [
      "an empty group",
      { ...oidcVariables, OIDC_ALLOWED_GROUPS: "payments,," },
      "OIDC_ALLOWED_GROUPS",
    ],
    ["another word for closed", { SIGN_UP: "nobody" }, "SIGN_UP"],
    ["new accounts by a provider that is not there", { SIGN_UP: "oidc" }, "SIGN_UP"],
    ["an unknown way in", { SIGN_IN_METHODS: "link,password" }, "SIGN_IN_METHODS"],
    ["a way in twice", { SIGN_IN_METHODS: "link,link" }, "SIGN_IN_METHODS"],
    ["a way in that is not there", { SIGN_IN_METHODS: "link,oidc" }, "SIGN_IN_METHODS"],
    [
      "new accounts by a way in that is closed",
      { ...oidcVariables, SIGN_UP: "oidc", SIGN_IN_METHODS: "link" },
      "SIGN_UP",
    ],
  ])("given %s, names the variable and no value", (_name, environment, variable) => {
    const configError = getConfigError(environment);
    expect(configError).toContain(`  ${variable}: `);
    for (const value of Object.values(environment)) {
      if (value !== "openid") expect(configError).not.toContain(value);
    }
  });
});
