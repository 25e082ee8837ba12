import { setImmediate } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createHeldClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { countDials } from "@payment-links/runtime/testing/count-dials";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { rememberedMs } from "../../guard/remember-answers.ts";
import { createDnsResolver } from "../../guard/resolver.ts";
import { certificates } from "../../testing/certificates.ts";
import { openNameServer } from "../../testing/open-name-server.ts";
import { type Receiver, answer, openReceiver } from "../../testing/open-receiver.ts";
import { DeadlineError } from "./attempt-outcome.ts";
import { type Transport, openTransport } from "./transport.ts";

const clock = createHeldClock(new Date("2026-11-21T10:00:00.000Z"));
const { authority, key, good: cert } = certificates;
const [here, there] = ["93.184.216.34", "93.184.216.35"];

let says: string[] | undefined;
let askedCount: number;
const nameServer = useRig(() =>
  openNameServer((_name, type) => {
    if (type === "A") askedCount += 1;
    return type === "A" ? says : [];
  }),
);
const trusted = getCACertificates();
beforeAll(() => setDefaultCACertificates([authority]));
afterAll(() => setDefaultCACertificates(trusted));

let receiver: Receiver;
let dials: ReturnType<typeof countDials>;
let transport: Transport;
beforeEach(async () => {
  askedCount = 0;
  receiver = await openReceiver({ key, cert });
  // The receiver on loopback seems to be at whatever public address is dialled.
  dials = countDials({ answeredAtPort: Number(new URL(receiver.origin).port) });
  transport = openTransport({
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

/** Posts to a host whose name our name server knows; answers the status, or the error's name. */
const post = async ({ signal } = new AbortController()): Promise<number | string> => {
  const call = { url: new URL("https://receiver.test/"), headers: {}, body: "{}", signal };
  try {
    return await transport.post(call);
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
};

test("a connection is used again without asking DNS, for as long as its answer is believed", async () => {
  says = [here];
  expect([await post(), await post()]).toEqual([200, 200]);
  clock.advance(rememberedMs - 1);
  expect(await post()).toBe(200);
  expect([dials.dialled, askedCount, receiver.connectionsCount()]).toEqual([[here], 1, 1]);
});

test("a connection is kept when DNS says the same again, in whatever order", async () => {
  says = [here, there];
  await post();
  clock.advance(rememberedMs);
  says = [there, here];
  expect(await post()).toBe(200);
  expect([dials.dialled.length, askedCount, receiver.connectionsCount()]).toEqual([1, 2, 1]);
});

test("when DNS has moved the host, the next attempt dials the new address, and none the old", async () => {
  says = [here];
  await post();
  clock.advance(rememberedMs);
  says = [there];
  expect([await post(), await post()]).toEqual([200, 200]);
  expect(dials.dialled).toEqual([here, there]);
});

test.each([
  ["a private address", ["127.0.0.1"], "BlockedAddressError"],
  ["the same and a private one", [here, "10.0.0.1"], "BlockedAddressError"],
  ["nothing at all", [], "UnresolvedHostError"],
])(
  "a host of which DNS now says %s gets nothing more, though its connection is alive",
  async (_name, addresses, error) => {
    says = [here];
    expect(await post()).toBe(200);
    clock.advance(rememberedMs);
    says = addresses;
    expect([await post(), await post()]).toEqual([error, error]);
    expect([dials.dialled, receiver.received.length]).toEqual([[here], 1]);
    says = [here];
    clock.advance(rememberedMs);
    expect(await post()).toBe(200);
    expect(dials.dialled).toEqual([here, here]);
  },
);

test("an answer under way is not cut off when its host moves", async () => {
  says = [here];
  const ends: (() => void)[] = [];
  receiver.respondWith((res) => {
    if (ends.length === 0) ends.push(() => answer(201)(res));
    else answer(202)(res);
  });
  const first = post();
  await waitUntil("the first is asked", () => ends.length === 1);
  clock.advance(rememberedMs);
  says = [there];
  expect(await post()).toBe(202);
  ends[0]?.();
  expect(await first).toBe(201);
});

test("a connection serves more answers than one may be long", async () => {
  says = [here];
  receiver.respondWith((res) => void res.end("a".repeat(15 * 1024)));
  for (let posted = 0; posted < 16; posted += 1) expect(await post()).toBe(200);
  expect(receiver.connectionsCount()).toBe(1);
});

test("an answer that never ends is read no further behind TLS either", async () => {
  says = [here];
  let sentBytes = 0;
  receiver.respondWith(({ socket }) => {
    const write = (): void => {
      while (socket?.write("a".repeat(64 * 1024)) === true) continue;
      sentBytes = socket?.bytesWritten ?? 0;
      // Whoever takes so much takes all of it.
      if (sentBytes > 64 * 1024 * 1024) socket?.destroy();
    };
    socket?.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;");
    socket?.on("drain", write);
    write();
  });
  expect(await post()).toBe(200);
  expect(sentBytes).toBeLessThan(16 * 1024 * 1024);
});

test("an answer that follows informational ones is the one that counts", async () => {
  says = [here];
  receiver.respondWith((res) => {
    res.writeContinue();
    res.writeContinue();
    res.writeProcessing();
    res.writeEarlyHints({ link: "</style.css>; rel=preload" });
    answer(201)(res);
  });
  expect([await post(), await post(), receiver.connectionsCount()]).toEqual([201, 201, 1]);
});

test("a call whose time is over while it waits for a connection is not sent", async () => {
  says = [here];
  const ends: (() => void)[] = [];
  receiver.respondWith((res) => void ends.push(() => answer(201)(res)));
  const first = post();
  await waitUntil("the first is asked", () => ends.length === 1);
  const expiry = new AbortController();
  const second = post(expiry);
  // Its host is known, so it asks for a connection within this turn.
  await setImmediate();
  expiry.abort(new DeadlineError());
  expect(await second).toBe("DeadlineError");
  receiver.respondWith(answer(202));
  ends[0]?.();
  expect([await first, await post(), receiver.received.length]).toEqual([201, 202, 2]);
});
