import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
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
  test.each(paths)("%s is answered by %s", (path, service) => {
    expect(serviceFor(path)).toBe(service);
  });

  test.each(paths)("the ingress of the compose set sends %s there too", (path, service) => {
    expect(nginxServiceFor(path)).toBe(service);
  });
});

/** nginx takes the longest prefix that matches. */
const nginxServiceFor = (path: string): string | undefined => {
  const conf = readFileSync(new URL("../ingress.conf", import.meta.url), "utf8");
  const rules = [...conf.matchAll(/location (\S+)\s+\{ proxy_pass http:\/\/([a-z-]+):8080; \}/g)];
  return rules
    .filter(([, prefix = ""]) => path.startsWith(prefix))
    .toSorted(([, a = ""], [, b = ""]) => b.length - a.length)[0]?.[2];
};
