import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import {
  consoleOperations,
  createLinkBody,
  openCatalogue,
  publicLinkOperations,
} from "@payment-links/contracts";
import { sessionPaths } from "@payment-links/http";
import { type ServiceName, serviceFor } from "./ingress.ts";

const paths: [string, ServiceName][] = [
  ["/v1/payment-link", "links-api"],
  ["/v1/payment-link/plink_1", "links-api"],
  ["/v1/openapi.json", "links-api"],
  ["/@alice/pay/plink_1", "links-api"],
  ["/tx/tx_1", "links-api"],
  ["/checkout/logos/8453.svg", "links-api"],
  ["/checkout/images/user_1/0123", "webhook-dispatcher"],
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
  ["/console/api/webhook-endpoints", "webhook-dispatcher"],
  ["/console/api/webhook-endpoints/whe_1/deliveries", "webhook-dispatcher"],
  ["/console/api/webhook-deliveries", "webhook-dispatcher"],
  ["/settlement-notices/demo", "settlement-listener"],
  ["/", "links-api"],
];

describe("one origin", () => {
  test.each(paths)("%s is answered by %s (rule OPS-1)", (path, service) => {
    expect(serviceFor(path)).toBe(service);
  });

  test.each(paths)("the ingress of the compose set sends %s there too", (path, service) => {
    expect(nginxServiceFor(path)).toBe(service);
  });

  test("a session's token is sent to its own service and to every call that needs it (rule CALLER-40)", () => {
    const sentTo = Object.entries(sessionPaths);
    for (const [service, cookiePaths] of sentTo) {
      for (const path of cookiePaths) {
        for (const below of [path, `${path}/`, `${path}/x`, `${path}/webhook-endpoints`]) {
          expect([below, serviceFor(below)]).toEqual([below, service]);
          expect([below, nginxServiceFor(below)]).toEqual([below, service]);
        }
      }
    }
    for (const path of sessionOperationPaths) {
      const getting = sentTo.filter(([, paths]) =>
        paths.some((one) => path === one || path.startsWith(`${one}/`)),
      );
      expect([path, getting.map(([service]) => service)]).toEqual([path, [serviceFor(path)]]);
    }
  });

  test.each(["packages/contracts/RULES.md", "deploy/README.md"])(
    "%s names the same service for every path and every operation (rule OPS-1)",
    (file) => {
      const told = toldPrefixes(file);
      const wrong = [...paths.map(([path]) => path), ...operationPaths]
        .map((path) => ({ path, told: serviceBehind(told, path), served: serviceFor(path) }))
        .filter((one) => one.told !== one.served);
      expect(wrong).toEqual([]);
    },
  );
});

const now = () => new Date();
const ofConsole = consoleOperations({ catalogue: openCatalogue(), now });
const operationPaths: readonly string[] = [
  ...Object.values(publicLinkOperations(createLinkBody(now))),
  ...ofConsole,
].map(({ path }) => path);
const sessionOperationPaths: readonly string[] = ofConsole
  .filter(({ caller }) => caller === "session")
  .map(({ path }) => path);

const ruleSays = "One origin, by path";

/** What stands in front of a path, and the service that it leads to. */
type Prefix = readonly [prefix: string, service: string];

/**
 * What a text for people says: the rule's sentence, in which a service stands behind each "to", or the
 * rows of the table. `…` and `<…>` stand for anything.
 */
const toldPrefixes = (file: string): Prefix[] => {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  const told = text.split("\n").find((line) => line.includes(ruleSays)) ?? text;
  const parts = told.matchAll(/(`\/[^|]*?|everything else)(?: to| \|) ([a-z]+-[a-z]+)/g);
  return [...parts].flatMap(([, names = "", service = ""]) => {
    const prefixes = [...names.matchAll(/`(\/[^`…<]*)/g)].map(([, prefix = ""]) => prefix);
    const all = names.includes("everything else") ? [...prefixes, "/"] : prefixes;
    return all.map((prefix): Prefix => [prefix, service]);
  });
};

const nginxServiceFor = (path: string): string | undefined => {
  const conf = readFileSync(new URL("../ingress.conf", import.meta.url), "utf8");
  const rules = conf.matchAll(/location (\S+)\s+\{ proxy_pass http:\/\/([a-z-]+):8080; \}/g);
  return serviceBehind(
    [...rules].map(([, prefix = "", service = ""]): Prefix => [prefix, service]),
    path,
  );
};

/** The longest prefix that matches wins, as nginx has it. */
const serviceBehind = (prefixes: readonly Prefix[], path: string): string | undefined =>
  prefixes
    .filter(([prefix]) => path.startsWith(prefix))
    .toSorted(([a], [b]) => b.length - a.length)[0]?.[1];
