import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import * as z from "zod";

const Compose = z.object({
  services: z.record(
    z.string(),
    z.object({ environment: z.record(z.string(), z.coerce.string()).default({}) }),
  ),
});

/** The processes that are allowed to receive each secret. */
const variableHolders: Record<string, readonly string[]> = {
  MIGRATION_DATABASE_URL: [
    "auth-keys-prepare",
    "links-api-prepare",
    "settlement-listener-prepare",
    "webhook-dispatcher-prepare",
  ],
  INTERNAL_TOKEN: ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"],
  OPERATOR_TOKEN: ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"],
  OIDC_CLIENT_SECRET: ["auth-keys"],
  SIGN_IN_RPC_URLS: ["auth-keys"],
  SMTP_URL: ["auth-keys"],
  SETTLEMENT_PROVIDER_SECRETS: ["settlement-listener"],
  RPC_URLS: ["settlement-listener"],
  EVM_RPC_URLS: ["settlement-listener"],
  WEBHOOK_SECRET_KEYS: ["webhook-dispatcher"],
};

describe("the Compose file", () => {
  let environments: [name: string, environment: Record<string, string>][] = [];
  beforeAll(() => {
    const text = readFileSync(new URL("../compose.yaml", import.meta.url), "utf8");
    const { services } = Compose.parse(parse(text, { merge: true }));
    environments = Object.entries(services).map(([name, { environment }]) => [name, environment]);
  });

  test.each(Object.entries(variableHolders))("gives %s only to %j", (variable, names) => {
    const matchingServices = environments.filter(([, environment]) => variable in environment);
    expect(matchingServices.map(([name]) => name).sort()).toEqual(names);
  });

  test.each(["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"])(
    "lets %s and its prepare step use only the role of that schema",
    (service) => {
      const urls = environments
        .filter(([name]) => name === service || name === `${service}-prepare`)
        .map(([, { DATABASE_URL: url = "" }]) => url);
      expect(urls).toHaveLength(2);
      const roleUrlPrefix = `postgres://${service.replace("-", "_")}:`;
      expect(urls.filter((url) => !url.startsWith(roleUrlPrefix))).toEqual([]);
    },
  );

  test("replaces the client's X-Forwarded-For at the ingress (rule OPS-5)", () => {
    const text = readFileSync(new URL("../ingress.conf", import.meta.url), "utf8");
    const values = [...text.matchAll(/proxy_set_header X-Forwarded-For (.+);/g)];
    expect(values.map(([, value]) => value)).toEqual(["$remote_addr"]);
  });

  test("disables sign-up unless the operator sets SIGN_UP (rule CALLER-37)", () => {
    const matchingServices = environments.filter(([, environment]) => "SIGN_UP" in environment);
    expect(matchingServices.map(([name]) => name)).toEqual(["auth-keys", "links-api"]);
    // An empty value is treated as unset, and the images run with NODE_ENV=production.
    const values = matchingServices.map(([, environment]) => environment["SIGN_UP"]);
    expect(values.filter((value) => value !== "${SIGN_UP:-}")).toEqual([]);
    const dockerfile = readFileSync(new URL("../Dockerfile", import.meta.url), "utf8");
    expect(dockerfile).toContain("ENV NODE_ENV=production");
  });

  test("gives the Postgres superuser's password only to Postgres and the prepare steps", () => {
    const superuserHolders = environments.filter(([, environment]) =>
      Object.values(environment).some((value) => value.includes("${POSTGRES_PASSWORD")),
    );
    expect(superuserHolders.map(([name]) => name).sort()).toEqual(
      [...(variableHolders["MIGRATION_DATABASE_URL"] ?? []), "postgres"].sort(),
    );
  });
});
