import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { countDials } from "@payment-links/runtime/testing/count-dials";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { openNameServer } from "../testing/open-name-server.ts";
import { admitWebhookUrl } from "./admit-webhook-url.ts";
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
      // Public when it is registered, private from then on; the TTL is 0.
      if (type === "AAAA") return [];
      flipsCount += 1;
      return flipsCount === 1 ? ["93.184.216.34"] : ["127.0.0.1"];
    case "silent.com":
      return undefined;
    default:
      return [];
  }
};

let nameServer: Awaited<ReturnType<typeof openNameServer>>;
beforeEach(async () => {
  nameServer = await openNameServer(zone);
});
afterEach(() => nameServer.close());

const open = (timeoutMs = ampleTimeoutMs) =>
  createDnsResolver({ timeoutMs, servers: [nameServer.server] });

describe("createDnsResolver", () => {
  test("answers every address of both families", async () => {
    expect(await open()("both.com")).toEqual(["93.184.216.34", "93.184.216.35", "2606:4700::1"]);
    expect(await open()("v6.com")).toEqual(["2606:4700::1"]);
  });

  test("rejects a name that is not there, and one without a timely answer", async () => {
    await expect(open()("nowhere.com")).rejects.toThrow("does not resolve");
    const hasty = open(provokedTimeoutMs(100));
    await expect(hasty("silent.com")).rejects.toThrow("does not resolve");
  });

  test("does not read the machine's own hosts file", async () => {
    await expect(open()("localhost")).rejects.toThrow("does not resolve");
  });
});

describe("a name server that says public first and private next", () => {
  test("is believed by the registration, and stopped at the connection without a single dial", async () => {
    const resolve = open();
    const rules = { overriddenHosts: new Set<string>(), ownHosts: new Set<string>() };
    expect(await admitWebhookUrl("https://flips.com/", { rules, resolve })).toBeInstanceOf(URL);
    expect(await admitWebhookUrl("https://mixed.com/", { rules, resolve })).toBeUndefined();
    const dials = countDials();
    const error = await new Promise<Error | null>((done) => {
      const connect = createGuardedConnector(resolve, { connectTimeoutMs: ampleTimeoutMs });
      const options = { hostname: "flips.com", protocol: "https:", port: "443" };
      connect(options, (...[failure]) => done(failure));
    });
    dials.restore();
    expect(error?.name).toBe("BlockedAddressError");
    expect(dials.dialled).toEqual([]);
    expect(flipsCount).toBe(2);
  });
});
