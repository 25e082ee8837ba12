import { afterEach, describe, expect, test } from "@jest/globals";
import { publicRoute } from "./route.ts";
import { sendRequest } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

const routes = [
  publicRoute({ method: "get", path: "/", handle: (_req, res) => void res.json({}) }),
];

let app: StartedApp | undefined;
afterEach(() => app?.close());

const loopbackCidr = "127.0.0.0/8";
const edgeCidr = "10.1.0.0/16";

describe("the address that a request is limited by (rule OPS-5)", () => {
  test.each([
    ["no trusted proxy: the socket's", [], "1.2.3.4", "127.0.0.1"],
    ["an untrusted proxy: the socket's", [edgeCidr], "1.2.3.4", "127.0.0.1"],
    ["a trusted proxy: the address it reports", [loopbackCidr], "1.2.3.4", "1.2.3.4"],
    [
      "an address from the client itself: the one that the proxy saw",
      [loopbackCidr],
      "6.6.6.6, 1.2.3.4",
      "1.2.3.4",
    ],
    [
      "two trusted proxies: the address that the outer one saw",
      [loopbackCidr, edgeCidr],
      "6.6.6.6, 1.2.3.4, 10.1.2.3",
      "1.2.3.4",
    ],
    [
      "a client that names our proxies: the address that the proxy saw",
      [loopbackCidr, edgeCidr],
      "10.1.9.9, 1.2.3.4, 10.1.2.3",
      "1.2.3.4",
    ],
    ["only trusted proxies: the outermost", [loopbackCidr, edgeCidr], "10.1.2.3", "10.1.2.3"],
    ["a trusted proxy without the header: the proxy's", [loopbackCidr], undefined, "127.0.0.1"],
    ["not an address", [loopbackCidr], "unknown", "no-address"],
    ["an address with a port", [loopbackCidr], "1.2.3.4:5678", "no-address"],
    ["only commas: the proxy's", [loopbackCidr], ",,,", "127.0.0.1"],
    ["IPv6: its /64", [loopbackCidr], "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["IPv4 mapped to IPv6: the IPv4 address", [loopbackCidr], "::ffff:1.2.3.4", "1.2.3.4"],
  ])("%s", async (_name, trustedProxies, forwardedFor, countedAddress) => {
    app = await startApp({ routes, trustedProxies });
    const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
    const response = await sendRequest({ port: app.port, headers });
    expect(response.status).toBe(200);
    expect(app.requestedBuckets).toEqual([[`ip ${countedAddress}`]]);
  });

  describe("with a proxy that is not configured", () => {
    const listWarnings = (): Record<string, unknown>[] =>
      (app?.logLines ?? [])
        .map((line): Record<string, unknown> => JSON.parse(line))
        .filter(({ msg }) => String(msg).includes("TRUSTED_PROXIES"));

    test.each([
      ["x-forwarded-for", "1.2.3.4"],
      ["forwarded", "for=1.2.3.4"],
      ["x-real-ip", "1.2.3.4"],
    ])(
      "is reported in one warning that names the setting, for %s (rule OPS-9)",
      async (header, value) => {
        app = await startApp({ routes, trustedProxies: [edgeCidr] });
        for (let i = 0; i < 3; i += 1)
          await sendRequest({ port: app.port, headers: { [header]: value } });
        // This also applies to a path that does not exist.
        await sendRequest({ port: app.port, path: "/nothing", headers: { [header]: value } });
        expect(listWarnings()).toMatchObject([{ level: "warn", peer: "127.0.0.1", header }]);
        expect(JSON.stringify(listWarnings())).not.toContain("1.2.3.4");
      },
    );

    test("is not reported if the proxy is trusted or nothing is forwarded", async () => {
      app = await startApp({ routes, trustedProxies: [loopbackCidr] });
      await sendRequest({ port: app.port, headers: { "x-forwarded-for": "1.2.3.4" } });
      await app.close();
      expect(listWarnings()).toEqual([]);
      app = await startApp({ routes });
      await sendRequest({ port: app.port });
      expect(listWarnings()).toEqual([]);
    });
  });

  test("cannot be changed with other forwarding headers", async () => {
    app = await startApp({ routes, trustedProxies: [loopbackCidr] });
    const address = "6.6.6.6";
    const headers = { "x-real-ip": address, forwarded: `for=${address}`, "client-ip": address };
    await sendRequest({ port: app.port, headers });
    expect(app.requestedBuckets).toEqual([["ip 127.0.0.1"]]);
  });

  test("cannot be changed to escape a limit", async () => {
    app = await startApp({ routes, perAddress: { tokensPerSecond: 1, burst: 2 } });
    const statuses: number[] = [];
    for (const lastOctet of [1, 2, 3]) {
      const headers = { "x-forwarded-for": `1.2.3.${lastOctet}` };
      statuses.push((await sendRequest({ port: app.port, headers })).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });

  test.each(["proxy.example", "loopback", "1", "true", "10.0.0.0/33", "10.0.0.0/", "::/129", "*"])(
    "given the trusted proxy %j, which is not a CIDR, does not start",
    async (proxy) => {
      await expect(startApp({ routes, trustedProxies: [edgeCidr, proxy] })).rejects.toThrow(
        /^TRUSTED_PROXIES: value 2 is not an address or a CIDR$/,
      );
    },
  );

  test("can come from a proxy named by a single address, or by IPv4 mapped to IPv6", async () => {
    for (const trustedProxy of ["127.0.0.1", "127.0.0.1/32", "::ffff:127.0.0.1/128"]) {
      app = await startApp({ routes, trustedProxies: [trustedProxy] });
      await sendRequest({ port: app.port, headers: { "x-forwarded-for": "1.2.3.4" } });
      expect(app.requestedBuckets).toEqual([["ip 1.2.3.4"]]);
      await app.close();
    }
  });
});
