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

describe("the address that a request is counted under (rule OPS-5)", () => {
  test.each([
    ["no proxy is trusted: the socket's", [], "1.2.3.4", "127.0.0.1"],
    ["a proxy that is not ours is in front: the socket's", [edgeCidr], "1.2.3.4", "127.0.0.1"],
    ["ours is in front: what it says", [loopbackCidr], "1.2.3.4", "1.2.3.4"],
    ["the client says one itself: what ours saw", [loopbackCidr], "6.6.6.6, 1.2.3.4", "1.2.3.4"],
    [
      "two of ours: what the outer one saw",
      [loopbackCidr, edgeCidr],
      "6.6.6.6, 1.2.3.4, 10.1.2.3",
      "1.2.3.4",
    ],
    [
      "the client names our proxies",
      [loopbackCidr, edgeCidr],
      "10.1.9.9, 1.2.3.4, 10.1.2.3",
      "1.2.3.4",
    ],
    ["only our own stand there: the outermost", [loopbackCidr, edgeCidr], "10.1.2.3", "10.1.2.3"],
    ["ours says nothing: ours", [loopbackCidr], undefined, "127.0.0.1"],
    ["no address", [loopbackCidr], "unknown", "no-address"],
    ["an address with a port", [loopbackCidr], "1.2.3.4:5678", "no-address"],
    ["nothing but commas: ours", [loopbackCidr], ",,,", "127.0.0.1"],
    ["IPv6: its /64", [loopbackCidr], "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["IPv4 written as IPv6: that", [loopbackCidr], "::ffff:1.2.3.4", "1.2.3.4"],
  ])("%s", async (_name, trustedProxies, forwardedFor, countedAddress) => {
    app = await startApp({ routes, trustedProxies });
    const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
    const response = await sendRequest({ port: app.port, headers });
    expect(response.status).toBe(200);
    expect(app.requestedBuckets).toEqual([[`ip ${countedAddress}`]]);
  });

  describe("a proxy that is not named", () => {
    const listWarnings = (): Record<string, unknown>[] =>
      (app?.logLines ?? [])
        .map((line): Record<string, unknown> => JSON.parse(line))
        .filter(({ msg }) => String(msg).includes("TRUSTED_PROXIES"));

    test.each([
      ["x-forwarded-for", "1.2.3.4"],
      ["forwarded", "for=1.2.3.4"],
      ["x-real-ip", "1.2.3.4"],
    ])(
      "is reported by one warning that names the setting, when it sends %s (rule OPS-9)",
      async (header, value) => {
        app = await startApp({ routes, trustedProxies: [edgeCidr] });
        for (let i = 0; i < 3; i += 1)
          await sendRequest({ port: app.port, headers: { [header]: value } });
        // Also where nothing is found.
        await sendRequest({ port: app.port, path: "/nothing", headers: { [header]: value } });
        expect(listWarnings()).toMatchObject([{ level: "warn", peer: "127.0.0.1", header }]);
        expect(JSON.stringify(listWarnings())).not.toContain("1.2.3.4");
      },
    );

    test("is not reported while the proxy is trusted, or nobody forwards", async () => {
      app = await startApp({ routes, trustedProxies: [loopbackCidr] });
      await sendRequest({ port: app.port, headers: { "x-forwarded-for": "1.2.3.4" } });
      await app.close();
      expect(listWarnings()).toEqual([]);
      app = await startApp({ routes });
      await sendRequest({ port: app.port });
      expect(listWarnings()).toEqual([]);
    });
  });

  test("cannot be changed by other headers that proxies write", async () => {
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
    "given the trusted proxy %j, which is no CIDR, does not start",
    async (proxy) => {
      await expect(startApp({ routes, trustedProxies: [edgeCidr, proxy] })).rejects.toThrow(
        /^TRUSTED_PROXIES: value 2 is no address and no CIDR$/,
      );
    },
  );

  test("is believed of a proxy named by its address alone, and by IPv4 written as IPv6", async () => {
    for (const trustedProxy of ["127.0.0.1", "127.0.0.1/32", "::ffff:127.0.0.1/128"]) {
      app = await startApp({ routes, trustedProxies: [trustedProxy] });
      await sendRequest({ port: app.port, headers: { "x-forwarded-for": "1.2.3.4" } });
      expect(app.requestedBuckets).toEqual([["ip 1.2.3.4"]]);
      await app.close();
    }
  });
});
