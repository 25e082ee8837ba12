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
  test("defaults to live keys and no identity provider", () => {
    const config = parseConfig(authKeysConfig, { OIDC_ISSUER: "" });
    expect(config).toEqual({
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
    ["a start without NODE_ENV", {}, "open"],
    ["production with open sign-up", { NODE_ENV: "production", SIGN_UP: "open" }, "open"],
    ["development with closed sign-up", { SIGN_UP: "closed" }, "closed"],
  ])("sets sign-up in %s: %j makes it %s (rule CALLER-37)", (_, environment, signUp) => {
    expect(parseConfig(authKeysConfig, environment).signUp).toBe(signUp);
  });

  test("parses the RPC providers for contract wallets, and never repeats a URL in an error", () => {
    const { rpcUrls } = parseConfig(authKeysConfig, {
      SIGN_IN_RPC_URLS: "8453=https://rpc.example/key,8453=https://other.example",
    });
    expect(rpcUrls.get("8453")).toEqual(["https://rpc.example/key", "https://other.example"]);
    const configError = getConfigError({ SIGN_IN_RPC_URLS: "8453=wss://rpc.example/key" });
    expect(configError).toContain("SIGN_IN_RPC_URLS");
    expect(configError).not.toContain("rpc.example");
  });

  test("rejects two providers with the same host for a chain, unless the host is declared independent (rule CHAIN-31)", () => {
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

  test("accepts a delay for default wallets in seconds, up to 30 days", () => {
    const parseTestConfig = (WALLET_CHANGE_DELAY: string) =>
      parseConfig(authKeysConfig, { WALLET_CHANGE_DELAY }).walletDelayMs;
    expect(parseTestConfig("86400")).toBe(86_400_000);
    expect(parseTestConfig("2592000")).toBe(2_592_000_000);
    for (const invalidValue of ["2592001", "-1", "0.5", "1d"])
      expect(() => parseTestConfig(invalidValue)).toThrow();
  });

  test("retains the audit log without a limit, or for at least 30 days", () => {
    const parseTestConfig = (AUDIT_LOG_DAYS: string) =>
      parseConfig(authKeysConfig, { AUDIT_LOG_DAYS });
    expect(parseConfig(authKeysConfig, {}).auditLogDays).toBe(0);
    for (const days of [0, 30, 36_500])
      expect(parseTestConfig(String(days)).auditLogDays).toBe(days);
    for (const invalidValue of ["1", "29", "-1", "36501", "1.5"]) {
      expect(() => parseTestConfig(invalidValue)).toThrow(/AUDIT_LOG_DAYS/);
    }
  });

  test("accepts a scanner's public key as in a PEM file, on P-256 only", () => {
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

  test("parses sign-up, sign-in methods and allowed groups", () => {
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

  test("keeps the issuer as written, without a secret and with the default scopes", () => {
    expect(parseConfig(authKeysConfig, oidcVariables).oidc).toEqual({
      issuer: "https://id.example/tenant/",
      clientId: "links",
      clientSecret: undefined,
      scopes: "openid profile",
      allowedGroups: undefined,
    });
  });

  test("reads the client secret from its variable or its file", () => {
    const file = join(mkdtempSync(join(tmpdir(), "auth-keys-")), "secret");
    writeFileSync(file, "hush\n");
    for (const secret of [{ OIDC_CLIENT_SECRET: "hush" }, { OIDC_CLIENT_SECRET_FILE: file }]) {
      const { oidc } = parseConfig(authKeysConfig, { ...oidcVariables, ...secret });
      expect(oidc?.clientSecret).toBe("hush");
    }
  });

  test.each(["http://localhost:1", "http://127.0.0.1:1/realm", "http://[::1]:1"])(
    "accepts the loopback issuer %s",
    (issuer) => {
      const { oidc } = parseConfig(authKeysConfig, { ...oidcVariables, OIDC_ISSUER: issuer });
      expect(oidc?.issuer).toBe(issuer);
    },
  );

  test.each<[string, Record<string, string>, string]>([
    ["only an issuer", { OIDC_ISSUER: oidcVariables.OIDC_ISSUER }, "OIDC_CLIENT_ID"],
    ["only a client id", { OIDC_CLIENT_ID: "links" }, "OIDC_ISSUER"],
    ["only a secret", { OIDC_CLIENT_SECRET: "hush" }, "OIDC_ISSUER"],
    ["only scopes", { OIDC_SCOPES: "openid" }, "OIDC_ISSUER"],
    ["plain http", { ...oidcVariables, OIDC_ISSUER: "http://id.example" }, "OIDC_ISSUER"],
    [
      "http on a host that resembles loopback",
      { ...oidcVariables, OIDC_ISSUER: "http://localhost.evil.example" },
      "OIDC_ISSUER",
    ],
    ["no URL", { ...oidcVariables, OIDC_ISSUER: "id.example" }, "OIDC_ISSUER"],
    ["a query", { ...oidcVariables, OIDC_ISSUER: "https://id.example/?a=b" }, "OIDC_ISSUER"],
    ["credentials", { ...oidcVariables, OIDC_ISSUER: "https://a:b@id.example" }, "OIDC_ISSUER"],
    ["scopes without openid", { ...oidcVariables, OIDC_SCOPES: "profile" }, "OIDC_SCOPES"],
    ["scopes with two spaces", { ...oidcVariables, OIDC_SCOPES: "openid  profile" }, "OIDC_SCOPES"],
    ["an invalid scanner key", { LEAKED_KEYS_PUBLIC_KEYS: "a=QUJD" }, "LEAKED_KEYS_PUBLIC_KEYS"],
    ["only groups", { OIDC_ALLOWED_GROUPS: "payments" }, "OIDC_ISSUER"],
    [
      "an empty group",
      { ...oidcVariables, OIDC_ALLOWED_GROUPS: "payments,," },
      "OIDC_ALLOWED_GROUPS",
    ],
    ["another word for closed", { SIGN_UP: "nobody" }, "SIGN_UP"],
    ["sign-up by a provider that is not configured", { SIGN_UP: "oidc" }, "SIGN_UP"],
    ["an unknown sign-in method", { SIGN_IN_METHODS: "link,password" }, "SIGN_IN_METHODS"],
    ["a duplicate sign-in method", { SIGN_IN_METHODS: "link,link" }, "SIGN_IN_METHODS"],
    [
      "a sign-in method that is not configured",
      { SIGN_IN_METHODS: "link,oidc" },
      "SIGN_IN_METHODS",
    ],
    [
      "sign-up by a disabled sign-in method",
      { ...oidcVariables, SIGN_UP: "oidc", SIGN_IN_METHODS: "link" },
      "SIGN_UP",
    ],
  ])("rejects %s with the variable's name and no value", (_name, environment, variable) => {
    const configError = getConfigError(environment);
    expect(configError).toContain(`  ${variable}: `);
    for (const value of Object.values(environment)) {
      if (value !== "openid") expect(configError).not.toContain(value);
    }
  });
});

describe("SMTP_URL and SMTP_FROM", () => {
  const url = "smtp://mailer:secret@mail.example.com";
  test("are off by default, and on only together (rule MAIL-1)", () => {
    expect(parseConfig(authKeysConfig, {}).email).toBeUndefined();
    expect(
      parseConfig(authKeysConfig, { SMTP_URL: url, SMTP_FROM: "Shop <a@example.com>" }).email,
    ).toMatchObject({
      server: { host: "mail.example.com", requiresTls: true },
      from: { name: "Shop", address: "a@example.com" },
    });
    expect(() => parseConfig(authKeysConfig, { SMTP_URL: url })).toThrow(/SMTP_FROM: is missing/);
    expect(() => parseConfig(authKeysConfig, { SMTP_FROM: "a@example.com" })).toThrow(
      /SMTP_URL: is missing/,
    );
  });

  test("are reported without the value if they are wrong (rule OPS-4)", () => {
    const parse = () =>
      parseConfig(authKeysConfig, {
        SMTP_URL: "smtp://mailer:secret@mail.example.com/path",
        SMTP_FROM: "a@example.com",
      });
    expect(parse).toThrow(/SMTP_URL: must be/);
    expect(parse).not.toThrow(/secret/);
  });
});
