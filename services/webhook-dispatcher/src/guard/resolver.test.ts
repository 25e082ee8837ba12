import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { interceptConnections } from "@payment-links/runtime/testing/intercept-connections";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { startNameServer } from "../testing/start-name-server.ts";
import { validateWebhookUrl } from "./validate-webhook-url.ts";
import { createGuardedConnector } from "./guarded-connector.ts";
import { createDnsResolver } from "./resolver.ts";

const ipv6 = "2606:4700:0:0:0:0:0:1";
let flipsCount = 0;

const zone = (name: string, type: "A" | "AAAA"): string[] | undefined => {
  switch (name) {
    case "both.com":
      return type === "A" ? ["93.184.216.34", "93.184.216.35"] : [ipv6];
    case "v6.com":
      return type === "A" ? [] : [ipv6];
    case "mixed.com":
      return type === "A" ? ["93.184.216.34"] : ["0:0:0:0:0:0:0:1"];
    case "flips.com":
      // The host is public at registration and private afterwards, with a TTL of 0.
      if (type === "AAAA") return [];
      flipsCount += 1;
      return flipsCount === 1 ? ["93.184.216.34"] : ["127.0.0.1"];
    case "silent.com":
      return undefined;
    default:
      return [];
  }
};

let nameServer: Awaited<ReturnType<typeof startNameServer>>;
beforeEach(async () => {
  nameServer = await startNameServer(zone);
});
afterEach(() => nameServer.close());

const createResolver = (timeoutMs = ampleTimeoutMs) =>
  createDnsResolver({ timeoutMs, servers: [nameServer.server] });

describe("createDnsResolver", () => {
  test("returns all addresses of both families", async () => {
    expect(await createResolver()("both.com")).toEqual([
      "93.184.216.34",
      "93.184.216.35",
      "2606:4700::1",
    ]);
    expect(await createResolver()("v6.com")).toEqual(["2606:4700::1"]);
  });

  test("rejects an unknown name, and a name without a timely response", async () => {
    await expect(createResolver()("nowhere.com")).rejects.toThrow("does not resolve");
    const hastyResolve = createResolver(provokedTimeoutMs(100));
    await expect(hastyResolve("silent.com")).rejects.toThrow("does not resolve");
  });

  test("ignores the machine's hosts file", async () => {
    await expect(createResolver()("localhost")).rejects.toThrow("does not resolve");
  });
});

describe("a name server that returns a public address first and a private one next", () => {
  test("passes the registration and is blocked at the connection without a dial", async () => {
    const resolve = createResolver();
    const rules = { overriddenHosts: new Set<string>(), ownHosts: new Set<string>() };
    expect(await validateWebhookUrl("https://flips.com/", { rules, resolve })).toBeInstanceOf(URL);
    expect(await validateWebhookUrl("https://mixed.com/", { rules, resolve })).toBe("host");
    const dials = interceptConnections();
    const error = await new Promise<Error | null>((settle) => {
      const connect = createGuardedConnector(resolve, { connectTimeoutMs: ampleTimeoutMs });
      const options = { hostname: "flips.com", protocol: "https:", port: "443" };
      connect(options, (...[failure]) => settle(failure));
    });
    dials.restore();
    expect(error?.name).toBe("BlockedAddressError");
    expect(dials.dialedAddresses).toEqual([]);
    expect(flipsCount).toBe(2);
  });
});
