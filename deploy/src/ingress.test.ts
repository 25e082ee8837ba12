import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import {
  consoleOperations,
  createLinkBody,
  loadCatalogue,
  publicLinkOperations,
  testModeOperations,
} from "@payment-links/contracts";
import { sessionCookiePaths } from "@payment-links/http";
import { type ServiceName, findService } from "./ingress.ts";

const paths: [string, ServiceName][] = [
  ["/v1/payment-link", "links-api"],
  ["/v1/payment-link/plink_1", "links-api"],
  ["/v1/openapi.json", "links-api"],
  ["/@alice/pay/plink_1", "links-api"],
  ["/tx/tx_1", "links-api"],
  ["/checkout/logos/8453.svg", "links-api"],
  ["/checkout/images/user_1/0123", "webhook-dispatcher"],
  ["/checkout/pictures/0123", "auth-keys"],
  ["/checkout/payment-links/plink_1", "links-api"],
  ["/console", "links-api"],
  ["/console/sign-in", "links-api"],
  ["/console/api/openapi.json", "links-api"],
  ["/console/api/payment-links", "links-api"],
  ["/console/api/payment-links/plink_1/deactivate", "links-api"],
  ["/console/api/deposits", "links-api"],
  ["/console/api/deposits.csv", "links-api"],
  ["/console/api/deposits/dep_1/assign", "links-api"],
  ["/console/api/overview", "links-api"],
  ["/console/api/payment-links.csv", "links-api"],
  ["/console/api/payments.csv", "links-api"],
  ["/console/api/session", "auth-keys"],
  ["/console/api/account", "auth-keys"],
  ["/console/api/api-keys/key_1", "auth-keys"],
  ["/console/api/unsubscribe/token", "auth-keys"],
  ["/console/api/webhook-endpoints", "webhook-dispatcher"],
  ["/console/api/webhook-endpoints/whe_1/deliveries", "webhook-dispatcher"],
  ["/console/api/webhook-deliveries", "webhook-dispatcher"],
  ["/settlement-notices/demo", "settlement-listener"],
  ["/", "links-api"],
];

describe("one origin", () => {
  test.each(paths)("%s is served by %s (rule OPS-1)", (path, service) => {
    expect(findService(path)).toBe(service);
  });

  test.each(paths)("the Compose ingress routes %s to the same service", (path, service) => {
    expect(findNginxService(path)).toBe(service);
  });

  test("a session token is sent only to its own service, and with every call that needs it (rule CALLER-40)", () => {
    const sessionPathEntries = Object.entries(sessionCookiePaths);
    for (const [service, cookiePaths] of sessionPathEntries) {
      for (const path of cookiePaths) {
        for (const nestedPath of [path, `${path}/`, `${path}/x`, `${path}/webhook-endpoints`]) {
          expect([nestedPath, findService(nestedPath)]).toEqual([nestedPath, service]);
          expect([nestedPath, findNginxService(nestedPath)]).toEqual([nestedPath, service]);
        }
      }
    }
    for (const path of sessionOperationPaths) {
      const matchingServices = sessionPathEntries.filter(([, paths]) =>
        paths.some((cookiePath) => path === cookiePath || path.startsWith(`${cookiePath}/`)),
      );
      expect([path, matchingServices.map(([service]) => service)]).toEqual([
        path,
        [findService(path)],
      ]);
    }
  });

  test.each(["packages/contracts/RULES.md", "packages/docs/content/self-hosting.md"])(
    "%s documents the same service for every path and operation (rule OPS-1)",
    (file) => {
      const documentedPrefixes = readDocumentedPrefixes(file);
      const mismatches = [...paths.map(([path]) => path), ...operationPaths]
        .map((path) => ({
          path,
          documented: findServiceByPrefix(documentedPrefixes, path),
          served: findService(path),
        }))
        .filter((cookiePath) => cookiePath.documented !== cookiePath.served);
      expect(mismatches).toEqual([]);
    },
  );
});

const now = () => new Date();
const consoleOperationList = consoleOperations({ catalogue: loadCatalogue(), now });
const operationPaths: readonly string[] = [
  ...Object.values(publicLinkOperations(createLinkBody(now))),
  ...Object.values(testModeOperations),
  ...consoleOperationList,
].map(({ path }) => path);
const sessionOperationPaths: readonly string[] = consoleOperationList
  .filter(({ caller }) => caller === "session")
  .map(({ path }) => path);

const ruleTitle = "One origin, by path";

/** A path prefix and the service to which it is routed. */
type Prefix = readonly [prefix: string, service: string];

/**
 * Parses the documented routes from the rule's sentence, which has a service after each "to", or
 * from the rows of the table. `…` and `<…>` are wildcards.
 */
const readDocumentedPrefixes = (file: string): Prefix[] => {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  const documentedPrefixes = text.split("\n").find((line) => line.includes(ruleTitle)) ?? text;
  const prefixGroups = documentedPrefixes.matchAll(
    /((?:`\/|everything else)[^|]*?)(?: to| \|) ([a-z]+-[a-z]+)/g,
  );
  return [...prefixGroups].flatMap(([, prefixText = "", service = ""]) => {
    const prefixes = [...prefixText.matchAll(/`(\/[^`…<]*)/g)].map(([, prefix = ""]) => prefix);
    const allPrefixes = prefixText.includes("everything else") ? [...prefixes, "/"] : prefixes;
    return allPrefixes.map((prefix): Prefix => [prefix, service]);
  });
};

const findNginxService = (path: string): string | undefined => {
  const configText = readFileSync(new URL("../ingress.conf", import.meta.url), "utf8");
  const locations = configText.matchAll(
    /location (\S+)\s+\{ proxy_pass http:\/\/([a-z-]+):8080; (?:\w+_log \S+; )*\}/g,
  );
  return findServiceByPrefix(
    [...locations].map(([, prefix = "", service = ""]): Prefix => [prefix, service]),
    path,
  );
};

/** The longest matching prefix wins, as in nginx. */
const findServiceByPrefix = (prefixes: readonly Prefix[], path: string): string | undefined =>
  prefixes
    .filter(([prefix]) => path.startsWith(prefix))
    .toSorted(([a], [b]) => b.length - a.length)[0]?.[1];
