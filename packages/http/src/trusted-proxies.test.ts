import { afterEach, describe, expect, test } from "@jest/globals";
import { publicRoute } from "./route.ts";
import { call } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

const routes = [
  publicRoute({ method: "get", path: "/", handle: (_req, res) => void res.json({}) }),
];

let app: StartedApp | undefined;
afterEach(() => app?.close());

const loopback = "127.0.0.0/8";
const edge = "10.1.0.0/16";

describe("the address that a request is counted under (rule OPS-5)", () => {
  test.each([
    ["no proxy is trusted: the socket's", [], "1.2.3.4", "127.0.0.1"],
    ["a proxy that is not ours is in front: the socket's", [edge], "1.2.3.4", "127.0.0.1"],
    ["ours is in front: what it says", [loopback], "1.2.3.4", "1.2.3.4"],
    ["the client says one itself: what ours saw", [loopback], "6.6.6.6, 1.2.3.4", "1.2.3.4"],
    [
      "two of ours: what the outer one saw",
      [loopback, edge],
      "6.6.6.6, 1.2.3.4, 10.1.2.3",
      "1.2.3.4",
    ],
    ["the client names our proxies", [loopback, edge], "10.1.9.9, 1.2.3.4, 10.1.2.3", "1.2.3.4"],
    ["only our own stand there: the outermost", [loopback, edge], "10.1.2.3", "10.1.2.3"],
    ["ours says nothing: ours", [loopback], undefined, "127.0.0.1"],
    ["no address", [loopback], "unknown", "no-address"],
    ["an address with a port", [loopback], "1.2.3.4:5678", "no-address"],
    ["nothing but commas: ours", [loopback], ",,,", "127.0.0.1"],
    ["IPv6: its /64", [loopback], "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["IPv4 written as IPv6: that", [loopback], "::ffff:1.2.3.4", "1.2.3.4"],
  ])("%s", async (_name, trustedProxies, forwarded, counted) => {
    app = await startApp({ routes, trustedProxies });
    const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
    const answer = await call({ port: app.port, headers });
    expect(answer.status).toBe(200);
    expect(app.charged).toEqual([[`ip ${counted}`]]);
  });

  describe("a proxy that is not named", () => {
    const warnings = (): Record<string, unknown>[] =>
      (app?.logged ?? [])
        .map((line): Record<string, unknown> => JSON.parse(line))
        .filter(({ msg }) => String(msg).includes("TRUSTED_PROXIES"));

    test.each([
      ["x-forwarded-for", "1.2.3.4"],
      ["forwarded", "for=1.2.3.4"],
      ["x-real-ip", "1.2.3.4"],
    ])(
      "is reported by one warning that names the setting, when it sends %s (rule OPS-9)",
      async (header, value) => {
        app = await startApp({ routes, trustedProxies: [edge] });
        for (let i = 0; i < 3; i += 1) await call({ port: app.port, headers: { [header]: value } });
        // Also where nothing is found.
        await call({ port: app.port, path: "/nothing", headers: { [header]: value } });
        expect(warnings()).toMatchObject([{ level: "warn", peer: "127.0.0.1", header }]);
        expect(JSON.stringify(warnings())).not.toContain("1.2.3.4");
      },
    );

    test("is not reported while the proxy is trusted, or nobody forwards", async () => {
      app = await startApp({ routes, trustedProxies: [loopback] });
      await call({ port: app.port, headers: { "x-forwarded-for": "1.2.3.4" } });
      await app.close();
      expect(warnings()).toEqual([]);
      app = await startApp({ routes });
      await call({ port: app.port });
      expect(warnings()).toEqual([]);
    });
  });

  test("cannot be changed by other headers that proxies write", async () => {
    app = await startApp({ routes, trustedProxies: [loopback] });
    const address = "6.6.6.6";
    const headers = { "x-real-ip": address, forwarded: `for=${address}`, "client-ip": address };
    await call({ port: app.port, headers });
    expect(app.charged).toEqual([["ip 127.0.0.1"]]);
  });

  test("cannot be changed to escape a limit", async () => {
    app = await startApp({ routes, perAddress: { tokensPerSecond: 1, burst: 2 } });
    const statuses: number[] = [];
    for (const last of [1, 2, 3]) {
      const headers = { "x-forwarded-for": `1.2.3.${last}` };
      statuses.push((await call({ port: app.port, headers })).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });

  test.each(["proxy.example", "loopback", "1", "true", "10.0.0.0/33", "10.0.0.0/", "::/129", "*"])(
    "given the trusted proxy %j, which is no CIDR, does not start",
    async (proxy) => {
      await expect(startApp({ routes, trustedProxies: [edge, proxy] })).rejects.toThrow(
        /^TRUSTED_PROXIES: value 2 is no address and no CIDR$/,
      );
    },
  );

  test("is believed of a proxy named by its address alone, and by IPv4 written as IPv6", async () => {
    for (const own of ["127.0.0.1", "127.0.0.1/32", "::ffff:127.0.0.1/128"]) {
      app = await startApp({ routes, trustedProxies: [own] });
      await call({ port: app.port, headers: { "x-forwarded-for": "1.2.3.4" } });
      expect(app.charged).toEqual([["ip 1.2.3.4"]]);
      await app.close();
    }
  });
});
