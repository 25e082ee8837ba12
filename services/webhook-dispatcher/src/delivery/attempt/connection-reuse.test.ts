import { setImmediate } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createFakeClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { interceptConnections } from "@payment-links/runtime/testing/intercept-connections";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { dnsCacheMs } from "../../guard/cache-dns-lookups.ts";
import { createDnsResolver } from "../../guard/resolver.ts";
import { certificates } from "../../testing/certificates.ts";
import { startNameServer } from "../../testing/start-name-server.ts";
import { type Receiver, respondWithStatus, startReceiver } from "../../testing/start-receiver.ts";
import { DeadlineError } from "./attempt-outcome.ts";
import { type Transport, createTransport } from "./transport.ts";

const clock = createFakeClock(new Date("2026-11-21T10:00:00.000Z"));
const { authority, key, good: cert } = certificates;
const [oldAddress, newAddress] = ["93.184.216.34", "93.184.216.35"];

let dnsAddresses: string[] | undefined;
let queryCount: number;
const nameServer = useRig(() =>
  startNameServer((_name, type) => {
    if (type === "A") queryCount += 1;
    return type === "A" ? dnsAddresses : [];
  }),
);
const trustedCertificates = getCACertificates();
beforeAll(() => setDefaultCACertificates([authority]));
afterAll(() => setDefaultCACertificates(trustedCertificates));

let receiver: Receiver;
let dials: ReturnType<typeof interceptConnections>;
let transport: Transport;
beforeEach(async () => {
  queryCount = 0;
  receiver = await startReceiver({ key, cert });
  // Every public address leads to the receiver on loopback.
  dials = interceptConnections({ redirectPort: Number(new URL(receiver.origin).port) });
  transport = createTransport({
    resolve: createDnsResolver({ timeoutMs: ampleTimeoutMs, servers: [nameServer.server] }),
    clock,
    overrides: new Map(),
    connectionsMax: 1,
    connectTimeoutMs: ampleTimeoutMs,
  });
});
afterEach(async () => {
  await transport.close();
  dials.restore();
  await receiver.close();
});

/** Posts to a host known to the test's name server. Returns the status, or the error's name. */
const post = async ({ signal } = new AbortController()): Promise<number | string> => {
  const call = { url: new URL("https://receiver.test/"), headers: {}, body: "{}", signal };
  try {
    return await transport.post(call);
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
};

test("a connection is reused without a DNS query while the DNS result is cached", async () => {
  dnsAddresses = [oldAddress];
  expect([await post(), await post()]).toEqual([200, 200]);
  clock.advance(dnsCacheMs - 1);
  expect(await post()).toBe(200);
  expect([dials.dialedAddresses, queryCount, receiver.connectionsCount()]).toEqual([
    [oldAddress],
    1,
    1,
  ]);
});

test("a connection is kept when DNS returns the same addresses in another order", async () => {
  dnsAddresses = [oldAddress, newAddress];
  await post();
  clock.advance(dnsCacheMs);
  dnsAddresses = [newAddress, oldAddress];
  expect(await post()).toBe(200);
  expect([dials.dialedAddresses.length, queryCount, receiver.connectionsCount()]).toEqual([
    1, 2, 1,
  ]);
});

test("the next attempt dials only the new address when DNS has moved the host", async () => {
  dnsAddresses = [oldAddress];
  await post();
  clock.advance(dnsCacheMs);
  dnsAddresses = [newAddress];
  expect([await post(), await post()]).toEqual([200, 200]);
  expect(dials.dialedAddresses).toEqual([oldAddress, newAddress]);
});

test.each([
  ["a private address", ["127.0.0.1"], "BlockedAddressError"],
  ["the same address and a private one", [oldAddress, "10.0.0.1"], "BlockedAddressError"],
  ["no address", [], "UnresolvedHostError"],
])("an open connection is not used again when DNS returns %s", async (_name, addresses, error) => {
  dnsAddresses = [oldAddress];
  expect(await post()).toBe(200);
  clock.advance(dnsCacheMs);
  dnsAddresses = addresses;
  expect([await post(), await post()]).toEqual([error, error]);
  expect([dials.dialedAddresses, receiver.received.length]).toEqual([[oldAddress], 1]);
  dnsAddresses = [oldAddress];
  clock.advance(dnsCacheMs);
  expect(await post()).toBe(200);
  expect(dials.dialedAddresses).toEqual([oldAddress, oldAddress]);
});

test("a response in progress is not cut off when its host moves", async () => {
  dnsAddresses = [oldAddress];
  const sendResponses: (() => void)[] = [];
  receiver.respondWith((res) => {
    if (sendResponses.length === 0) sendResponses.push(() => respondWithStatus(201)(res));
    else respondWithStatus(202)(res);
  });
  const firstPost = post();
  await waitUntil("the first request arrives", () => sendResponses.length === 1);
  clock.advance(dnsCacheMs);
  dnsAddresses = [newAddress];
  expect(await post()).toBe(202);
  sendResponses[0]?.();
  expect(await firstPost).toBe(201);
});

test("a connection serves more bytes in total than the limit for one response", async () => {
  dnsAddresses = [oldAddress];
  receiver.respondWith((res) => void res.end("a".repeat(15 * 1024)));
  for (let index = 0; index < 16; index += 1) expect(await post()).toBe(200);
  expect(receiver.connectionsCount()).toBe(1);
});

test("an endless response is read only up to the limit over TLS too", async () => {
  dnsAddresses = [oldAddress];
  let sentBytes = 0;
  receiver.respondWith(({ socket }) => {
    const write = (): void => {
      while (socket?.write("a".repeat(64 * 1024)) === true) continue;
      sentBytes = socket?.bytesWritten ?? 0;
      // The client reads without a limit, so the test stops here.
      if (sentBytes > 64 * 1024 * 1024) socket?.destroy();
    };
    socket?.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;");
    socket?.on("drain", write);
    write();
  });
  expect(await post()).toBe(200);
  expect(sentBytes).toBeLessThan(16 * 1024 * 1024);
});

test("the final response after informational ones determines the status", async () => {
  dnsAddresses = [oldAddress];
  receiver.respondWith((res) => {
    res.writeContinue();
    res.writeContinue();
    res.writeProcessing();
    res.writeEarlyHints({ link: "</style.css>; rel=preload" });
    respondWithStatus(201)(res);
  });
  expect([await post(), await post(), receiver.connectionsCount()]).toEqual([201, 201, 1]);
});

test("a request whose deadline passes while it waits for a connection is not sent", async () => {
  dnsAddresses = [oldAddress];
  const sendResponses: (() => void)[] = [];
  receiver.respondWith((res) => void sendResponses.push(() => respondWithStatus(201)(res)));
  const firstPost = post();
  await waitUntil("the first request arrives", () => sendResponses.length === 1);
  const abortController = new AbortController();
  const secondPost = post(abortController);
  // The DNS result is cached, so the request asks for a connection in this turn of the event loop.
  await setImmediate();
  abortController.abort(new DeadlineError());
  expect(await secondPost).toBe("DeadlineError");
  receiver.respondWith(respondWithStatus(202));
  sendResponses[0]?.();
  expect([await firstPost, await post(), receiver.received.length]).toEqual([201, 202, 2]);
});
