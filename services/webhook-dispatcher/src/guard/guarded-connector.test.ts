import type { LookupOptions } from "node:dns";
import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Agent } from "undici";
import { waitUntil } from "@payment-links/runtime/testing";
import { countDials } from "@payment-links/runtime/testing/count-dials";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { createGuardedConnector, createGuardedLookup } from "./guarded-connector.ts";
import type { Resolve } from "./resolver.ts";

let dials: ReturnType<typeof countDials>;
beforeEach(() => {
  dials = countDials();
});
afterEach(() => {
  dials.restore();
});

/** Asks the connector for a socket, as undici would; answers the error's name, or the socket. */
const connect = (resolve: Resolve, hostname: string): Promise<string | Socket> =>
  new Promise((done) => {
    const connector = createGuardedConnector(resolve, { connectTimeoutMs: ampleTimeoutMs });
    const options = { hostname, host: hostname, protocol: "https:", port: "443" };
    connector(options, (error, socket) => done(error === null ? socket : nameOf(error)));
  });

const nameOf = (error: Error): string => ("code" in error ? String(error.code) : error.name);

const resolving =
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
    expect(await connect(resolving(address), "shop.com")).toBe("BlockedAddressError");
    expect(dials.dialled).toEqual([]);
  });

  test.each(privateAddresses)("opens no socket to the literal %s", async (address) => {
    const neverAsked: Resolve = () => Promise.reject(new Error("no lookup is made for a literal"));
    expect(await connect(neverAsked, address)).toBe("BlockedAddressError");
    expect(dials.dialled).toEqual([]);
  });

  test.each([
    ["first", ["10.0.0.1", "93.184.216.34"]],
    ["last", ["93.184.216.34", "2606:4700::1", "::1"]],
  ])(
    "one private address of several, the %s, refuses the whole host",
    async (_place, addresses) => {
      expect(await connect(resolving(...addresses), "shop.com")).toBe("BlockedAddressError");
      expect(dials.dialled).toEqual([]);
    },
  );

  test("dials exactly the addresses that were checked, though DNS has changed its mind since (rule HOOK-4)", async () => {
    const answers = [["93.184.216.34", "2606:4700::1"], ["127.0.0.1"]];
    const resolve: Resolve = () => Promise.resolve(answers.shift() ?? []);
    expect(await connect(resolve, "shop.com")).toBe("ECONNREFUSED");
    expect(new Set(dials.dialled)).toEqual(new Set(["93.184.216.34", "2606:4700::1"]));
    expect(answers).toHaveLength(1);
  });

  test("checks again at the next connection, so a name rebound to a private address is refused (rule HOOK-4)", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"]];
    const resolve: Resolve = () => Promise.resolve(answers.shift() ?? []);
    expect(await connect(resolve, "shop.com")).toBe("ECONNREFUSED");
    expect(await connect(resolve, "shop.com")).toBe("BlockedAddressError");
    expect(dials.dialled).toEqual(["93.184.216.34"]);
  });

  test("a host without addresses, or whose look-up fails, does not resolve", async () => {
    expect(await connect(resolving(), "shop.com")).toBe("UnresolvedHostError");
    const failing: Resolve = () => Promise.reject(new Error("SERVFAIL"));
    expect(await connect(failing, "shop.com")).toBe("UnresolvedHostError");
    expect(dials.dialled).toEqual([]);
  });

  // As where the machine's own network sends a public address elsewhere.
  test("closes a socket that leads inside after all, before a byte is written", async () => {
    let receivedCount = 0;
    let ended: Promise<unknown> | undefined;
    const inside = createServer((socket) => {
      ended = once(socket, "close");
      socket.on("data", (bytes) => (receivedCount += bytes.length));
    });
    await once(inside.listen(0, "127.0.0.1"), "listening");
    dials.restore();
    const { port } = inside.address() as AddressInfo;
    dials = countDials({ answeredAtPort: port, isDisguised: false });
    const connector = createGuardedConnector(resolving(publicAddress), {
      connectTimeoutMs: ampleTimeoutMs,
    });
    const failure = await new Promise<Error | null>((done) => {
      const options = { hostname: "shop.com", protocol: "http:", port: "80" };
      connector(options, (...[error]) => done(error));
    });
    expect([failure?.name, dials.dialled]).toEqual(["BlockedAddressError", [publicAddress]]);
    await waitUntil("it was connected to", () => ended !== undefined);
    await ended;
    expect(receivedCount).toBe(0);
    inside.close();
  });

  test("waits for an address that answers late, before it tries one that may lead nowhere", async () => {
    const far = createServer();
    await once(far.listen(0, "127.0.0.1"), "listening");
    dials.restore();
    const { port } = far.address() as AddressInfo;
    dials = countDials({ answeredAtPort: port, answerAfterMs: 600 });
    const resolve = resolving(publicAddress, "2606:4700::1");
    const connector = createGuardedConnector(resolve, { connectTimeoutMs: ampleTimeoutMs });
    const socket = await new Promise<Socket>((done, fail) => {
      const options = { hostname: "shop.com", protocol: "http:", port: "80" };
      connector(options, (...[error, opened]) => (error === null ? done(opened) : fail(error)));
    });
    socket.destroy();
    expect(dials.dialled).toEqual([publicAddress]);
    far.close();
  });

  test("undici opens its sockets by it", async () => {
    const connector = createGuardedConnector(resolving("192.168.0.1"), {
      connectTimeoutMs: ampleTimeoutMs,
    });
    const agent = new Agent({ allowH2: false, connect: connector });
    const asked = agent.request({ origin: "https://shop.com", path: "/", method: "POST" });
    await expect(asked).rejects.toThrow("publicly routable");
    await agent.close();
    expect(dials.dialled).toEqual([]);
  });

  test("no error tells an address", async () => {
    const connector = createGuardedConnector(resolving("10.1.2.3"), {
      connectTimeoutMs: ampleTimeoutMs,
    });
    const error = await new Promise<Error | null>((done) => {
      const options = { hostname: "shop.com", protocol: "https:", port: "443" };
      connector(options, (...[failure]) => done(failure));
    });
    expect(String(error?.message)).not.toContain("10.1.2.3");
  });
});

describe("createGuardedLookup", () => {
  type Answer = { failure: string | undefined; address: unknown; family: number | undefined };
  const look = (resolve: Resolve, options: LookupOptions): Promise<Answer> =>
    new Promise((done) => {
      createGuardedLookup(resolve)("shop.com", options, (error, address, family) =>
        done({ failure: error?.name, address, family }),
      );
    });

  test("answers both shapes in which Node asks, with public addresses alone", async () => {
    const resolve = resolving("93.184.216.34", "2606:4700::1");
    const list = [
      { address: "93.184.216.34", family: 4 },
      { address: "2606:4700::1", family: 6 },
    ];
    expect((await look(resolve, { all: true })).address).toEqual(list);
    expect(await look(resolve, {})).toMatchObject({ address: "93.184.216.34", family: 4 });
  });

  test("answers sixteen at most", async () => {
    const many = Array.from({ length: 17 }, (_, at) => `93.184.216.${at}`);
    const { address } = await look(resolving(...many), { all: true });
    expect(address).toEqual(many.slice(0, 16).map((one) => ({ address: one, family: 4 })));
  });

  test.each([[{ all: true }], [{ all: false }], [{}]])(
    "refuses a private one for %j",
    async (options) => {
      const answer = await look(resolving("93.184.216.34", "10.0.0.1"), options);
      expect(answer.failure).toBe("BlockedAddressError");
      expect(JSON.stringify(answer)).not.toContain("10.0.0.1");
    },
  );
});
