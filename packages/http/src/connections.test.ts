import { afterEach, describe, expect, test } from "@jest/globals";
import type { RequestListener, ServerResponse } from "node:http";
import { type Socket, connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createHeldClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { setApart } from "./connections.ts";
import { type Listening, listen } from "./listen.ts";

type Options = Omit<
  Parameters<typeof listen>[0],
  "handler" | "host" | "port" | "variable" | "clock"
>;

const opened: Listening[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(opened.splice(0).map((listening) => listening.close()));
});

const open = async (handler: RequestListener, options: Options = {}) => {
  const clock = createHeldClock(new Date("2026-11-28T10:00:00Z"));
  const listening = await listen({
    handler,
    host: "127.0.0.1",
    port: 0,
    variable: "PORT",
    clock,
    ...options,
  });
  opened.push(listening);
  /** Lets time pass in steps, so that each measurement happens. */
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += 500) {
      clock.advance(500);
      await setImmediate();
    }
  };
  return { ...listening, pass };
};

/** Connects from an address of loopback and sends a text. Nothing is read unless `reads` is set. */
const send = (port: number, text: string, { from = "127.0.0.1", reads = true } = {}) => {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  sockets.push(socket);
  let received = "";
  socket.on("error", () => {});
  if (reads) socket.on("data", (chunk: Buffer) => void (received += chunk.toString("latin1")));
  else socket.pause();
  socket.write(text);
  return { socket, received: () => received, isClosed: () => socket.closed };
};

const get = (path = "/") => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (length: number, body = "") =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`;

/** Larger than what the kernel holds for a connection. */
const largeAnswer = Buffer.alloc(24 * 1024 * 1024, "x");

/** A handler that keeps its answers until the test sends them. */
const createHolding = () => {
  const held: ServerResponse[] = [];
  const handler: RequestListener = (req, res) =>
    void (req.url === "/idle" ? res.end("ok") : held.push(res));
  return { handler, held };
};

/** Serves a large answer, and says when the kernel takes no more of it. */
const createLarge = () => {
  const answers: ServerResponse[] = [];
  const handler: RequestListener = (req, res) => {
    if (req.url === "/idle") return void res.end("ok");
    answers.push(res);
    res.end(largeAnswer);
  };
  const isBlocked = (index = 0) => (answers[index]?.socket?.writableLength ?? 0) > 0;
  return { handler, answers, isBlocked };
};

/** Reads at least as many bytes as told, which must come. */
const readSome = async (socket: Socket, bytes: number): Promise<number> => {
  let count = 0;
  while (count < bytes) {
    if (socket.destroyed) throw new Error(`the connection ended after ${count} bytes`);
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) await new Promise((resolve) => socket.once("readable", resolve));
    else count += chunk.length;
  }
  return count;
};

const bytesQueued = (res: ServerResponse | undefined) => res?.socket?.writableLength ?? 0;

describe("the lowest rate of a response", () => {
  test("a client that reads nothing is ended after the grace period (rule API-37)", async () => {
    const { handler, answers, isBlocked } = createLarge();
    const { port, pass } = await open(handler);
    send(port, get(), { reads: false });
    await waitUntil("the answer waits for its client", () => isBlocked());
    await pass(28_000);
    expect(bytesQueued(answers[0])).toBeGreaterThan(0);
    await pass(5_000);
    expect(answers[0]?.destroyed ?? true).toBe(true);
  });

  test("a client that reads one byte per second is ended after the grace period (rule API-37)", async () => {
    const { handler, answers, isBlocked } = createLarge();
    const { port, pass } = await open(handler);
    const { socket } = send(port, get(), { reads: false });
    await waitUntil("the answer waits for its client", () => isBlocked());
    for (let seconds = 0; seconds < 35; seconds += 1) {
      socket.read(1);
      await pass(1_000);
    }
    expect(answers[0]?.destroyed).toBe(true);
  });

  test("requests behind a response that is not read do not extend its time (rule API-37)", async () => {
    const { handler, answers, isBlocked } = createLarge();
    const { port, pass } = await open(handler);
    const { socket } = send(port, get(), { reads: false });
    await waitUntil("the answer waits for its client", () => isBlocked());
    for (let seconds = 0; seconds < 35; seconds += 1) {
      socket.write(get());
      await pass(1_000);
    }
    expect(answers[0]?.destroyed).toBe(true);
  });

  test("a client that reads 50 KB per second and pauses for 3 s gets the whole response", async () => {
    const bytes = 2_000_000;
    const { port, pass } = await open((_req, res) => res.end(largeAnswer.subarray(0, bytes)));
    const { socket } = send(port, get(), { reads: false });
    let total = 0;
    for (let seconds = 0; total < bytes; seconds += 1) {
      await pass(seconds % 30 === 0 ? 3_000 : 1_000);
      // A read takes what has arrived, which may be more than a second's share.
      if (total < seconds * 50_000) total += await readSome(socket, 1);
    }
    expect(total).toBeGreaterThan(bytes);
  });

  test("a response that is still computed is never stalled", async () => {
    const { handler, held } = createHolding();
    const { port, pass } = await open(handler);
    const client = send(port, get());
    await waitUntil("the handler has it", () => held.length === 1);
    await pass(120_000);
    held[0]?.end("done");
    await waitUntil("it is answered", () => client.received().endsWith("done"));
  });

  test("a stream outlives it, and its connection counts in no limit", async () => {
    const { handler, held } = createHolding();
    const { port, pass, connections } = await open(handler, { limits: { perAddress: 1 } });
    send(port, get(), { reads: false });
    await waitUntil("the handler has it", () => held.length === 1);
    if (held[0] !== undefined) setApart(held[0]);
    held[0]?.write(largeAnswer);
    await pass(60_000);
    const other = send(port, get("/idle"));
    await waitUntil("another connection is served", () => other.received().endsWith("ok"));
    expect(held[0]?.destroyed).toBe(false);
    expect(connections()).toMatchObject({ stream: 1, idle: 1 });
  });
});

describe("the lowest rate of a request body", () => {
  const readAll: RequestListener = (req, res) => {
    req.on("end", () => res.end("read")).on("error", () => {});
    req.resume();
  };

  test("a client that sends a head and no body is answered 408 and ended (rule API-37)", async () => {
    let begun = 0;
    const { port, pass } = await open((req, res) => {
      begun += 1;
      readAll(req, res);
    });
    const client = send(port, post(100));
    await waitUntil("the handler has it", () => begun === 1);
    await pass(8_000);
    expect(client.isClosed()).toBe(false);
    await pass(4_000);
    await waitUntil("it is ended", client.isClosed);
    expect(client.received()).toMatch(/^HTTP\/1\.1 408 .*REQUEST_TIMEOUT/s);
  });

  test("a client that sends one byte per second is ended (rule API-37)", async () => {
    let begun = 0;
    let bytes = 0;
    const { port, pass } = await open((req, res) => {
      begun += 1;
      readAll(req, res);
      req.on("data", (chunk: Buffer) => (bytes += chunk.length));
    });
    const client = send(port, post(1_000));
    await waitUntil("the handler has it", () => begun === 1);
    for (let seconds = 0; seconds < 15 && !client.isClosed(); seconds += 1) {
      const before = bytes;
      client.socket.write("x");
      await waitUntil("the byte arrives", () => bytes > before || client.socket.readableEnded);
      await pass(1_000);
    }
    await waitUntil("it is ended", client.isClosed);
  });

  test("a client that pauses for 3 s between its packets is served", async () => {
    let bytes = 0;
    const { port, pass } = await open((req, res) => {
      readAll(req, res);
      req.on("data", (chunk: Buffer) => (bytes += chunk.length));
    });
    const client = send(port, post(40_000));
    for (let sent = 0; sent < 40_000; sent += 2_000) {
      client.socket.write("x".repeat(2_000));
      await waitUntil("it arrives", () => bytes === sent + 2_000);
      await pass(3_000);
    }
    await waitUntil("it is answered", () => client.received().endsWith("read"));
  });

  test("a body that the server does not read yet is not the client's fault", async () => {
    const { handler, held } = createHolding();
    const { port, pass } = await open(handler);
    const client = send(port, post(4_000_000, "x".repeat(4_000_000)));
    await waitUntil(
      "the server takes no more",
      () => (held[0]?.req.readableLength ?? 0) >= (held[0]?.req.readableHighWaterMark ?? Infinity),
    );
    await pass(25_000);
    held[0]?.req.on("end", () => held[0]?.end("read")).resume();
    await waitUntil("it is answered", () => client.received().endsWith("read"));
  });

  test("of too many unread bodies the slowest ends, and none of another address (rule API-38)", async () => {
    const begun: string[] = [];
    const { port, pass, endedConnections } = await open(
      (req, res) => {
        begun.push(req.socket.remoteAddress ?? "");
        readAll(req, res);
      },
      { limits: { unreadBodiesPerAddress: 2 } },
    );
    const other = send(port, post(10), { from: "127.0.0.2" });
    await waitUntil("the other has begun", () => begun.length === 1);
    const own: ReturnType<typeof send>[] = [];
    for (let count = 0; count < 4; count += 1) {
      own.push(send(port, post(10)));
      await waitUntil("it has begun", () => begun.length === count + 2);
    }
    await pass(3_000);
    await waitUntil("two are ended", () => own.filter((one) => one.isClosed()).length === 2);
    expect(other.isClosed()).toBe(false);
    expect(endedConnections().get("unread_bodies")).toBe(2);
    other.socket.write("x".repeat(10));
    await waitUntil("the other is served", () => other.received().endsWith("read"));
  });
});

describe("connections of one address", () => {
  test("beyond its limit an address loses its own idle connections, never another's (rule API-38)", async () => {
    const { handler } = createHolding();
    const { port } = await open(handler, { limits: { perAddress: 2 } });
    const other = send(port, get("/idle"), { from: "127.0.0.2" });
    await waitUntil("it is answered", () => other.received().endsWith("ok"));
    const own: ReturnType<typeof send>[] = [];
    for (let count = 0; count < 4; count += 1) {
      const client = send(port, get("/idle"));
      own.push(client);
      await waitUntil("it is answered", () => client.received().endsWith("ok"));
    }
    await waitUntil("two are ended", () => own.filter((one) => one.isClosed()).length === 2);
    expect(own.map((one) => one.isClosed())).toEqual([true, true, false, false]);
    expect(other.isClosed()).toBe(false);
  });

  test("that all read nothing make room for a caller of the same address (rule API-38)", async () => {
    const { handler, isBlocked } = createLarge();
    const { port, pass } = await open(handler, { limits: { perAddress: 4 } });
    for (let count = 0; count < 4; count += 1) {
      send(port, get(), { reads: false });
      await waitUntil("it waits for its client", () => isBlocked(count));
    }
    await pass(1_500);
    const caller = send(port, get("/idle"));
    await waitUntil("it is served", () => caller.received().endsWith("ok"));
  });

  test("are refused where all of them are being answered, and none is ended (rule API-38)", async () => {
    const { handler, held } = createHolding();
    const { port, pass, endedConnections } = await open(handler, { limits: { perAddress: 2 } });
    const own = [send(port, get()), send(port, get())];
    await waitUntil("the handler has both", () => held.length === 2);
    await pass(60_000);
    const refused = send(port, get());
    await waitUntil("it is refused", refused.isClosed);
    expect(endedConnections().get("refused_address")).toBe(1);
    const other = send(port, get("/idle"), { from: "127.0.0.2" });
    await waitUntil("another address is served", () => other.received().endsWith("ok"));
    for (const res of held) res.end("ok");
    await waitUntil("both are answered", () => own.every((one) => one.received().endsWith("ok")));
  });

  test("of a trusted proxy have no limit of their own (rule API-38)", async () => {
    const { handler, held } = createHolding();
    const { port } = await open(handler, {
      limits: { perAddress: 1 },
      isExempt: (address) => address === "127.0.0.3",
    });
    for (let count = 0; count < 5; count += 1) send(port, get(), { from: "127.0.0.3" });
    await waitUntil("all are served", () => held.length === 5);
  });

  test("on IPv6 are those of its /64 (rule API-38)", async () => {
    const { handler } = createHolding();
    const addresses = ["2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "2001:db8:1:3::1"];
    const { port } = await open(handler, {
      limits: { perAddress: 1 },
      addressOf: () => addresses.shift(),
    });
    const clients: ReturnType<typeof send>[] = [];
    for (let count = 0; count < 3; count += 1) {
      const client = send(port, get("/idle"));
      clients.push(client);
      await waitUntil("it is answered", () => client.received().endsWith("ok"));
    }
    await waitUntil("the first is ended", () => clients[0]?.isClosed() === true);
    expect(clients.map((one) => one.isClosed())).toEqual([true, false, false]);
  });
});

describe("beyond as many connections as a port holds", () => {
  const from = (last: number) => ({ from: `127.0.0.${last}` });

  test("idle ones give way first, then the most stalled, and none that is being answered (rule API-38)", async () => {
    const { handler, held } = createHolding();
    const { port, pass, connections } = await open(handler, { limits: { inAll: 4 } });
    const computing = send(port, get(), from(2));
    send(port, get(), { ...from(3), reads: false });
    await waitUntil("the handler has both", () => held.length === 2);
    const stalled = held.find(({ req }) => req.socket.remoteAddress === "127.0.0.3");
    stalled?.end(largeAnswer);
    await waitUntil("it waits for its client", () => connections().sending === 1);
    await pass(1_000);
    const slowHead = send(port, "GET / HTTP/1.1\r\nX-Slow: ", from(4));
    await waitUntil("half of its head is read", () => connections().receiving === 1);
    await pass(6_000);
    const idle = send(port, get("/idle"), from(5));
    await waitUntil("it is answered", () => idle.received().endsWith("ok"));
    const order: string[] = [];
    for (const [name, { socket }] of Object.entries({ computing, slowHead, idle })) {
      socket.once("close", () => order.push(name));
    }
    // A client that reads nothing does not see the end of its connection.
    stalled?.once("close", () => order.push("stalled"));
    for (let count = 0; count < 3; count += 1) {
      send(port, get(), from(10 + count));
      await waitUntil("the handler has it", () => held.length === 3 + count);
      await waitUntil("one gave way", () => order.length === count + 1);
    }
    expect(order).toEqual(["idle", "stalled", "slowHead"]);
    const refused = send(port, get(), from(20));
    await waitUntil("it is refused", refused.isClosed);
    expect(computing.isClosed()).toBe(false);
  });

  test("the idle ones of the address that holds most give way first (rule API-38)", async () => {
    const { handler } = createHolding();
    const { port } = await open(handler, { limits: { inAll: 4 } });
    const clients: ReturnType<typeof send>[] = [];
    for (const last of [2, 3, 3, 3, 4]) {
      const client = send(port, get("/idle"), from(last));
      clients.push(client);
      await waitUntil("it is answered", () => client.received().endsWith("ok"));
    }
    await waitUntil("one is ended", () => clients.some((one) => one.isClosed()));
    expect(clients.map((one) => one.isClosed())).toEqual([false, true, false, false, false]);
  });

  test("the address that fills the port with stalled responses serves another (rule API-38)", async () => {
    const { handler, isBlocked } = createLarge();
    const { port, pass } = await open(handler, { limits: { inAll: 4 } });
    for (let count = 0; count < 4; count += 1) {
      send(port, get(), { reads: false });
      await waitUntil("it waits for its client", () => isBlocked(count));
    }
    await pass(1_500);
    const caller = send(port, get("/idle"), from(2));
    await waitUntil("it is served", () => caller.received().endsWith("ok"));
  });

  test("an address whose connections all make progress loses one to a newcomer, and none to its like (rule API-38)", async () => {
    const { handler, held } = createHolding();
    const { port, connections, endedConnections, pass } = await open(handler, {
      limits: { inAll: 6 },
    });
    const computing = send(port, get(), from(3));
    await waitUntil("the handler has it", () => held.length === 1);
    const heads = [2, 2, 2, 2, 4].map((last) => send(port, "GET / HTTP/1.1\r\nX: ", from(last)));
    await waitUntil("they are connected", () =>
      heads.every(({ socket }) => socket.readyState === "open"),
    );
    await pass(500);
    await waitUntil("their heads have begun", () => connections().receiving === 5);
    const lostCount = () => heads.filter((one) => one.isClosed()).length;
    for (let count = 1; count <= 3; count += 1) {
      const caller = send(port, get("/idle"), from(4 + count));
      await waitUntil("a newcomer is served", () => caller.received().endsWith("ok"));
      await waitUntil("the largest lost one", () => lostCount() === count);
      caller.socket.write("GET / HTTP/1.1\r\nX: ");
      await waitUntil("the newcomer is busy", () => connections().receiving === 5);
      await pass(500);
    }
    const refused = send(port, get("/idle"), from(8));
    await waitUntil("nobody holds twice as many, so it is refused", refused.isClosed);
    expect(endedConnections().get("refused_total")).toBe(1);
    expect([heads[4]?.isClosed(), computing.isClosed(), lostCount()]).toEqual([false, false, 3]);
  });

  test("a client that reads at 50 KB per second keeps its place", async () => {
    const { handler, isBlocked, answers } = createLarge();
    const { port, pass } = await open(handler, { limits: { inAll: 2 } });
    const slow = send(port, get(), { ...from(2), reads: false });
    await waitUntil("it waits for its client", () => isBlocked(0));
    send(port, get(), { ...from(3), reads: false });
    await waitUntil("it waits for its client", () => isBlocked(1));
    await pass(7_000);
    await readSome(slow.socket, 8_000_000);
    await pass(1_000);
    const caller = send(port, get("/idle"), from(4));
    await waitUntil("it is served", () => caller.received().endsWith("ok"));
    expect(answers.map((res) => res.destroyed)).toEqual([false, true]);
  });

  test("a kept connection is reused for many requests and loses no place", async () => {
    const { handler } = createHolding();
    const { port, endedConnections } = await open(handler, { limits: { inAll: 2, perAddress: 2 } });
    const client = send(port, get("/idle"));
    for (let count = 1; count <= 50; count += 1) {
      await waitUntil(
        "it is answered",
        () => client.received().split("200 OK").length === count + 1,
      );
      client.socket.write(get("/idle"));
    }
    expect([...endedConnections().values()].every((count) => count === 0)).toBe(true);
  });
});
