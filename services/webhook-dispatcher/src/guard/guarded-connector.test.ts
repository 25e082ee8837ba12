import type { LookupOptions } from "node:dns";
import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Agent } from "undici";
import { waitUntil } from "@payment-links/runtime/testing";
import { interceptConnections } from "@payment-links/runtime/testing/intercept-connections";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { createGuardedConnector, createGuardedLookup } from "./guarded-connector.ts";
import type { Resolve } from "./resolver.ts";

let dials: ReturnType<typeof interceptConnections>;
beforeEach(() => {
  dials = interceptConnections();
});
afterEach(() => {
  dials.restore();
});

/** Requests a socket from the connector like undici does. Returns the error's name, or the socket. */
const connect = (resolve: Resolve, hostname: string): Promise<string | Socket> =>
  new Promise((settle) => {
    const connector = createGuardedConnector(resolve, { connectTimeoutMs: ampleTimeoutMs });
    const options = { hostname, host: hostname, protocol: "https:", port: "443" };
    connector(options, (error, socket) => settle(error === null ? socket : nameOf(error)));
  });

const nameOf = (error: Error): string => ("code" in error ? String(error.code) : error.name);

const resolveTo =
  (...addresses: string[]): Resolve =>
  () =>
    Promise.resolve(addresses);

const publicAddress = "93.184.216.34";
const privateAddresses = [
  "127.0.0.1",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.100.100.200",
  "0.0.0.0",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
  "2001::1",
  "fd00:ec2::254",
  "fe80::1",
  "fec0::1",
  "ff02::1",
];

describe("createGuardedConnector", () => {
  test.each(privateAddresses)("opens no socket to a host that resolves to %s", async (address) => {
    expect(await connect(resolveTo(address), "shop.com")).toBe("BlockedAddressError");
    expect(dials.dialedAddresses).toEqual([]);
  });

  test.each(privateAddresses)("opens no socket to the literal %s", async (address) => {
    const neverResolve: Resolve = () => Promise.reject(new Error("unexpected lookup of a literal"));
    expect(await connect(neverResolve, address)).toBe("BlockedAddressError");
    expect(dials.dialedAddresses).toEqual([]);
  });

  test.each([
    ["first", ["10.0.0.1", "93.184.216.34"]],
    ["last", ["93.184.216.34", "2606:4700::1", "::1"]],
  ])(
    "rejects the whole host if one of several addresses is private: the %s",
    async (_place, addresses) => {
      expect(await connect(resolveTo(...addresses), "shop.com")).toBe("BlockedAddressError");
      expect(dials.dialedAddresses).toEqual([]);
    },
  );

  test("dials exactly the checked addresses, even if DNS has changed since (rule HOOK-4)", async () => {
    const resolutions = [["93.184.216.34", "2606:4700::1"], ["127.0.0.1"]];
    const resolve: Resolve = () => Promise.resolve(resolutions.shift() ?? []);
    expect(await connect(resolve, "shop.com")).toBe("ECONNREFUSED");
    expect(new Set(dials.dialedAddresses)).toEqual(new Set(["93.184.216.34", "2606:4700::1"]));
    expect(resolutions).toHaveLength(1);
  });

  test("checks again for the next connection, and rejects a name rebound to a private address (rule HOOK-4)", async () => {
    const resolutions = [["93.184.216.34"], ["127.0.0.1"]];
    const resolve: Resolve = () => Promise.resolve(resolutions.shift() ?? []);
    expect(await connect(resolve, "shop.com")).toBe("ECONNREFUSED");
    expect(await connect(resolve, "shop.com")).toBe("BlockedAddressError");
    expect(dials.dialedAddresses).toEqual(["93.184.216.34"]);
  });

  test("does not resolve a host without addresses or with a failed lookup", async () => {
    expect(await connect(resolveTo(), "shop.com")).toBe("UnresolvedHostError");
    const failing: Resolve = () => Promise.reject(new Error("SERVFAIL"));
    expect(await connect(failing, "shop.com")).toBe("UnresolvedHostError");
    expect(dials.dialedAddresses).toEqual([]);
  });

  // For example, when the machine's own network routes a public address elsewhere.
  test("closes a socket that leads to an internal peer before anything is written", async () => {
    let receivedCount = 0;
    let ended: Promise<unknown> | undefined;
    const internalServer = createServer((socket) => {
      ended = once(socket, "close");
      socket.on("data", (bytes) => (receivedCount += bytes.length));
    });
    await once(internalServer.listen(0, "127.0.0.1"), "listening");
    dials.restore();
    const { port } = internalServer.address() as AddressInfo;
    dials = interceptConnections({ redirectPort: port, isPeerAddressSpoofed: false });
    const connector = createGuardedConnector(resolveTo(publicAddress), {
      connectTimeoutMs: ampleTimeoutMs,
    });
    const failure = await new Promise<Error | null>((settle) => {
      const options = { hostname: "shop.com", protocol: "http:", port: "80" };
      connector(options, (...[error]) => settle(error));
    });
    expect([failure?.name, dials.dialedAddresses]).toEqual([
      "BlockedAddressError",
      [publicAddress],
    ]);
    await waitUntil("the server gets a connection", () => ended !== undefined);
    await ended;
    expect(receivedCount).toBe(0);
    internalServer.close();
  });

  test("waits for a slow address before it tries the next one", async () => {
    const remoteServer = createServer();
    await once(remoteServer.listen(0, "127.0.0.1"), "listening");
    dials.restore();
    const { port } = remoteServer.address() as AddressInfo;
    dials = interceptConnections({ redirectPort: port, connectDelayMs: 600 });
    const resolve = resolveTo(publicAddress, "2606:4700::1");
    const connector = createGuardedConnector(resolve, { connectTimeoutMs: ampleTimeoutMs });
    const socket = await new Promise<Socket>((settle, fail) => {
      const options = { hostname: "shop.com", protocol: "http:", port: "80" };
      connector(options, (...[error, openedSocket]) =>
        error === null ? settle(openedSocket) : fail(error),
      );
    });
    socket.destroy();
    expect(dials.dialedAddresses).toEqual([publicAddress]);
    remoteServer.close();
  });

  test("opens the sockets of an undici agent", async () => {
    const connector = createGuardedConnector(resolveTo("192.168.0.1"), {
      connectTimeoutMs: ampleTimeoutMs,
    });
    const agent = new Agent({ allowH2: false, connect: connector });
    const request = agent.request({ origin: "https://shop.com", path: "/", method: "POST" });
    await expect(request).rejects.toThrow("publicly routable");
    await agent.close();
    expect(dials.dialedAddresses).toEqual([]);
  });

  test("never includes an address in an error", async () => {
    const connector = createGuardedConnector(resolveTo("10.1.2.3"), {
      connectTimeoutMs: ampleTimeoutMs,
    });
    const error = await new Promise<Error | null>((settle) => {
      const options = { hostname: "shop.com", protocol: "https:", port: "443" };
      connector(options, (...[failure]) => settle(failure));
    });
    expect(String(error?.message)).not.toContain("10.1.2.3");
  });
});

describe("createGuardedLookup", () => {
  type LookupResult = { failure: string | undefined; address: unknown; family: number | undefined };
  const lookUp = (resolve: Resolve, options: LookupOptions): Promise<LookupResult> =>
    new Promise((settle) => {
      createGuardedLookup(resolve)("shop.com", options, (error, address, family) =>
        settle({ failure: error?.name, address, family }),
      );
    });

  test("returns only public addresses, in both forms that Node requests", async () => {
    const resolve = resolveTo("93.184.216.34", "2606:4700::1");
    const expectedAddresses = [
      { address: "93.184.216.34", family: 4 },
      { address: "2606:4700::1", family: 6 },
    ];
    expect((await lookUp(resolve, { all: true })).address).toEqual(expectedAddresses);
    expect(await lookUp(resolve, {})).toMatchObject({ address: "93.184.216.34", family: 4 });
  });

  test("returns sixteen addresses at most", async () => {
    const manyAddresses = Array.from({ length: 17 }, (_, index) => `93.184.216.${index}`);
    const { address } = await lookUp(resolveTo(...manyAddresses), { all: true });
    expect(address).toEqual(
      manyAddresses
        .slice(0, 16)
        .map((expectedAddress) => ({ address: expectedAddress, family: 4 })),
    );
  });

  test.each([[{ all: true }], [{ all: false }], [{}]])(
    "rejects a private address with %j",
    async (options) => {
      const result = await lookUp(resolveTo("93.184.216.34", "10.0.0.1"), options);
      expect(result.failure).toBe("BlockedAddressError");
      expect(JSON.stringify(result)).not.toContain("10.0.0.1");
    },
  );
});
