import { afterEach, describe, expect, test } from "@jest/globals";
import type { RequestListener, ServerResponse } from "node:http";
import { type Socket, connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createFakeClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { exemptConnection } from "./connections.ts";
import { type HttpListener, listen } from "./listen.ts";

type ListenOverrides = Omit<
  Parameters<typeof listen>[0],
  "handler" | "host" | "port" | "portVariable" | "clock"
>;

const listeners: HttpListener[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
});

const startListener = async (handler: RequestListener, options: ListenOverrides = {}) => {
  const clock = createFakeClock(new Date("2026-11-28T10:00:00Z"));
  const listener = await listen({
    handler,
    host: "127.0.0.1",
    port: 0,
    portVariable: "PORT",
    clock,
    ...options,
  });
  listeners.push(listener);
  /** Advances the clock in steps, so that each measurement runs. */
  const advanceTime = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += 500) {
      clock.advance(500);
      await setImmediate();
    }
  };
  return { ...listener, advanceTime };
};

/**
 * Connects from a loopback address and sends a text. Reads the response only if `shouldRead` is
 * set.
 */
const connectAndSend = (
  port: number,
  text: string,
  { localAddress = "127.0.0.1", shouldRead = true } = {},
) => {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  sockets.push(socket);
  let receivedText = "";
  socket.on("error", () => {});
  if (shouldRead)
    socket.on("data", (chunk: Buffer) => void (receivedText += chunk.toString("latin1")));
  else socket.pause();
  socket.write(text);
  return { socket, getReceivedText: () => receivedText, isClosed: () => socket.closed };
};

const formatGet = (path = "/") => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const formatPost = (length: number, body = "") =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`;

/** More bytes than the kernel buffers for a connection. */
const largeBody = Buffer.alloc(24 * 1024 * 1024, "x");

/** Creates a handler that holds its responses until the test sends them. */
const createHoldingHandler = () => {
  const heldResponses: ServerResponse[] = [];
  const handler: RequestListener = (req, res) =>
    void (req.url === "/idle" ? res.end("ok") : heldResponses.push(res));
  return { handler, heldResponses };
};

/**
 * Creates a handler with a large response, and a function that returns whether the response waits
 * for the client.
 */
const createLargeResponseHandler = () => {
  const responses: ServerResponse[] = [];
  const handler: RequestListener = (req, res) => {
    if (req.url === "/idle") return void res.end("ok");
    responses.push(res);
    res.end(largeBody);
  };
  const isWaitingForClient = (responseIndex = 0) =>
    (responses[responseIndex]?.socket?.writableLength ?? 0) > 0;
  return { handler, responses, isWaitingForClient };
};

/** Reads at least this many bytes. Throws if the connection ends first. */
const readAtLeast = async (socket: Socket, bytes: number): Promise<number> => {
  let readCount = 0;
  while (readCount < bytes) {
    if (socket.destroyed) throw new Error(`the connection ended after ${readCount} bytes`);
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) await new Promise((resolve) => socket.once("readable", resolve));
    else readCount += chunk.length;
  }
  return readCount;
};

const getBufferedBytes = (res: ServerResponse | undefined) => res?.socket?.writableLength ?? 0;

describe("the minimum rate of a response", () => {
  test("ends a client that reads nothing after the grace period (rule API-37)", async () => {
    const { handler, responses, isWaitingForClient } = createLargeResponseHandler();
    const { port, advanceTime } = await startListener(handler);
    connectAndSend(port, formatGet(), { shouldRead: false });
    await waitUntil("the response waits for its client", () => isWaitingForClient());
    await advanceTime(28_000);
    expect(getBufferedBytes(responses[0])).toBeGreaterThan(0);
    await advanceTime(5_000);
    expect(responses[0]?.destroyed ?? true).toBe(true);
  });

  test("ends a client that reads one byte per second after the grace period (rule API-37)", async () => {
    const { handler, responses, isWaitingForClient } = createLargeResponseHandler();
    const { port, advanceTime } = await startListener(handler);
    const { socket } = connectAndSend(port, formatGet(), { shouldRead: false });
    await waitUntil("the response waits for its client", () => isWaitingForClient());
    for (let seconds = 0; seconds < 35; seconds += 1) {
      socket.read(1);
      await advanceTime(1_000);
    }
    expect(responses[0]?.destroyed).toBe(true);
  });

  test("is not extended by requests pipelined behind an unread response (rule API-37)", async () => {
    const { handler, responses, isWaitingForClient } = createLargeResponseHandler();
    const { port, advanceTime } = await startListener(handler);
    const { socket } = connectAndSend(port, formatGet(), { shouldRead: false });
    await waitUntil("the response waits for its client", () => isWaitingForClient());
    for (let seconds = 0; seconds < 35; seconds += 1) {
      socket.write(formatGet());
      await advanceTime(1_000);
    }
    expect(responses[0]?.destroyed).toBe(true);
  });

  test("lets a client that reads 50 KB per second and pauses for 3 s get the whole response", async () => {
    const bytes = 2_000_000;
    const { port, advanceTime } = await startListener((_req, res) =>
      res.end(largeBody.subarray(0, bytes)),
    );
    const { socket } = connectAndSend(port, formatGet(), { shouldRead: false });
    let total = 0;
    for (let seconds = 0; total < bytes; seconds += 1) {
      await advanceTime(seconds % 30 === 0 ? 3_000 : 1_000);
      // One read returns everything that has arrived, which can be more than a second's share.
      if (total < seconds * 50_000) total += await readAtLeast(socket, 1);
    }
    expect(total).toBeGreaterThan(bytes);
  });

  test("does not apply while the response is computed", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, advanceTime } = await startListener(handler);
    const client = connectAndSend(port, formatGet());
    await waitUntil("the handler receives the request", () => heldResponses.length === 1);
    await advanceTime(120_000);
    heldResponses[0]?.end("done");
    await waitUntil("the response arrives", () => client.getReceivedText().endsWith("done"));
  });

  test("does not apply to a stream, whose connection is exempt from all limits", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, advanceTime, countConnections } = await startListener(handler, {
      limits: { perAddress: 1 },
    });
    connectAndSend(port, formatGet(), { shouldRead: false });
    await waitUntil("the handler receives the request", () => heldResponses.length === 1);
    if (heldResponses[0] !== undefined) exemptConnection(heldResponses[0]);
    heldResponses[0]?.write(largeBody);
    await advanceTime(60_000);
    const otherClient = connectAndSend(port, formatGet("/idle"));
    await waitUntil("another connection is served", () =>
      otherClient.getReceivedText().endsWith("ok"),
    );
    expect(heldResponses[0]?.destroyed).toBe(false);
    expect(countConnections()).toMatchObject({ stream: 1, idle: 1 });
  });
});

describe("the minimum rate of a request body", () => {
  const readWholeBody: RequestListener = (req, res) => {
    req.on("end", () => res.end("read")).on("error", () => {});
    req.resume();
  };

  test("returns 408 and ends a client that sends headers but no body (rule API-37)", async () => {
    let startedCount = 0;
    const { port, advanceTime } = await startListener((req, res) => {
      startedCount += 1;
      readWholeBody(req, res);
    });
    const client = connectAndSend(port, formatPost(100));
    await waitUntil("the handler receives the request", () => startedCount === 1);
    await advanceTime(8_000);
    expect(client.isClosed()).toBe(false);
    await advanceTime(4_000);
    await waitUntil("the connection is closed", client.isClosed);
    expect(client.getReceivedText()).toMatch(/^HTTP\/1\.1 408 .*REQUEST_TIMEOUT/s);
  });

  test("ends a client that sends one byte per second (rule API-37)", async () => {
    let startedCount = 0;
    let bytes = 0;
    const { port, advanceTime } = await startListener((req, res) => {
      startedCount += 1;
      readWholeBody(req, res);
      req.on("data", (chunk: Buffer) => (bytes += chunk.length));
    });
    const client = connectAndSend(port, formatPost(1_000));
    await waitUntil("the handler receives the request", () => startedCount === 1);
    for (let seconds = 0; seconds < 15 && !client.isClosed(); seconds += 1) {
      const bytesBefore = bytes;
      client.socket.write("x");
      await waitUntil("the byte arrives", () => bytes > bytesBefore || client.socket.readableEnded);
      await advanceTime(1_000);
    }
    await waitUntil("the connection is closed", client.isClosed);
  });

  test("serves a client that pauses for 3 s between its packets", async () => {
    let bytes = 0;
    const { port, advanceTime } = await startListener((req, res) => {
      readWholeBody(req, res);
      req.on("data", (chunk: Buffer) => (bytes += chunk.length));
    });
    const client = connectAndSend(port, formatPost(40_000));
    for (let sentBytes = 0; sentBytes < 40_000; sentBytes += 2_000) {
      client.socket.write("x".repeat(2_000));
      await waitUntil("the packet arrives", () => bytes === sentBytes + 2_000);
      await advanceTime(3_000);
    }
    await waitUntil("the response arrives", () => client.getReceivedText().endsWith("read"));
  });

  test("does not apply to a body that the server does not read yet", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, advanceTime } = await startListener(handler);
    const client = connectAndSend(port, formatPost(4_000_000, "x".repeat(4_000_000)));
    await waitUntil(
      "the server's read buffer is full",
      () =>
        (heldResponses[0]?.req.readableLength ?? 0) >=
        (heldResponses[0]?.req.readableHighWaterMark ?? Infinity),
    );
    await advanceTime(25_000);
    heldResponses[0]?.req.on("end", () => heldResponses[0]?.end("read")).resume();
    await waitUntil("the response arrives", () => client.getReceivedText().endsWith("read"));
  });

  test("ends the slowest unread bodies of an address over its limit, and none of another (rule API-38)", async () => {
    const startedAddresses: string[] = [];
    const { port, advanceTime, countEndedConnections } = await startListener(
      (req, res) => {
        startedAddresses.push(req.socket.remoteAddress ?? "");
        readWholeBody(req, res);
      },
      { limits: { unreadBodiesPerAddress: 2 } },
    );
    const otherClient = connectAndSend(port, formatPost(10), { localAddress: "127.0.0.2" });
    await waitUntil("the other body has started", () => startedAddresses.length === 1);
    const ownClients: ReturnType<typeof connectAndSend>[] = [];
    for (let count = 0; count < 4; count += 1) {
      ownClients.push(connectAndSend(port, formatPost(10)));
      await waitUntil("the body has started", () => startedAddresses.length === count + 2);
    }
    await advanceTime(3_000);
    await waitUntil(
      "two connections are closed",
      () => ownClients.filter((client) => client.isClosed()).length === 2,
    );
    expect(otherClient.isClosed()).toBe(false);
    expect(countEndedConnections().get("unread_bodies")).toBe(2);
    otherClient.socket.write("x".repeat(10));
    await waitUntil("the other client is served", () =>
      otherClient.getReceivedText().endsWith("read"),
    );
  });
});

describe("a request body in many chunks", () => {
  // 60 such connections took 1 GB.
  test("is rejected with 400 if its chunks are tiny, and the rest of its bytes are dropped (rule API-17)", async () => {
    let receivedBytes = 0;
    const { port } = await startListener((req) => {
      req.on("error", () => {});
      req.on("data", (chunk: Buffer) => (receivedBytes += chunk.length));
    });
    const head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const client = connectAndSend(port, head + "1\r\nx\r\n".repeat(60_000));
    await waitUntil("the connection ends", client.isClosed);
    expect(client.getReceivedText()).toMatch(/^HTTP\/1\.1 400 .*"BAD_REQUEST"/s);
    expect(receivedBytes).toBeLessThanOrEqual(1_002);
  });

  test("is accepted if 64 KiB arrive in chunks of 64 bytes (rule API-17)", async () => {
    const { port } = await startListener((req, res) => {
      req.resume();
      req.on("end", () => res.end("received"));
    });
    const head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const chunks = `40\r\n${"x".repeat(64)}\r\n`.repeat(1_024);
    const client = connectAndSend(port, `${head}${chunks}0\r\n\r\n`);
    await waitUntil("the response arrives", () => client.getReceivedText().endsWith("received"));
  });
});

describe("connections of one address", () => {
  test("an address over its limit loses its own idle connections, never another's (rule API-38)", async () => {
    const { handler } = createHoldingHandler();
    const { port } = await startListener(handler, { limits: { perAddress: 2 } });
    const otherClient = connectAndSend(port, formatGet("/idle"), { localAddress: "127.0.0.2" });
    await waitUntil("the response arrives", () => otherClient.getReceivedText().endsWith("ok"));
    const ownClients: ReturnType<typeof connectAndSend>[] = [];
    for (let count = 0; count < 4; count += 1) {
      const client = connectAndSend(port, formatGet("/idle"));
      ownClients.push(client);
      await waitUntil("the response arrives", () => client.getReceivedText().endsWith("ok"));
    }
    await waitUntil(
      "two connections are closed",
      () => ownClients.filter((client) => client.isClosed()).length === 2,
    );
    expect(ownClients.map((client) => client.isClosed())).toEqual([true, true, false, false]);
    expect(otherClient.isClosed()).toBe(false);
  });

  test("that all read nothing make room for a caller of the same address (rule API-38)", async () => {
    const { handler, isWaitingForClient } = createLargeResponseHandler();
    const { port, advanceTime } = await startListener(handler, { limits: { perAddress: 4 } });
    for (let count = 0; count < 4; count += 1) {
      connectAndSend(port, formatGet(), { shouldRead: false });
      await waitUntil("the response waits for its client", () => isWaitingForClient(count));
    }
    await advanceTime(1_500);
    const newClient = connectAndSend(port, formatGet("/idle"));
    await waitUntil("the new client is served", () => newClient.getReceivedText().endsWith("ok"));
  });

  test("are rejected while all others are being processed, and none is ended (rule API-38)", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, advanceTime, countEndedConnections } = await startListener(handler, {
      limits: { perAddress: 2 },
    });
    const ownClients = [connectAndSend(port, formatGet()), connectAndSend(port, formatGet())];
    await waitUntil("the handler receives both requests", () => heldResponses.length === 2);
    await advanceTime(60_000);
    const rejectedClient = connectAndSend(port, formatGet());
    await waitUntil("the connection is rejected", rejectedClient.isClosed);
    expect(countEndedConnections().get("refused_address")).toBe(1);
    const otherClient = connectAndSend(port, formatGet("/idle"), { localAddress: "127.0.0.2" });
    await waitUntil("another address is served", () =>
      otherClient.getReceivedText().endsWith("ok"),
    );
    for (const res of heldResponses) res.end("ok");
    await waitUntil("both responses arrive", () =>
      ownClients.every((client) => client.getReceivedText().endsWith("ok")),
    );
  });

  test("of a trusted proxy have no limit of their own (rule API-38)", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port } = await startListener(handler, {
      limits: { perAddress: 1 },
      isExempt: (address) => address === "127.0.0.3",
    });
    for (let count = 0; count < 5; count += 1)
      connectAndSend(port, formatGet(), { localAddress: "127.0.0.3" });
    await waitUntil("the handler receives all requests", () => heldResponses.length === 5);
  });

  test("include those of the whole /64 on IPv6 (rule API-38)", async () => {
    const { handler } = createHoldingHandler();
    const addresses = ["2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "2001:db8:1:3::1"];
    const { port } = await startListener(handler, {
      limits: { perAddress: 1 },
      getClientAddress: () => addresses.shift(),
    });
    const clients: ReturnType<typeof connectAndSend>[] = [];
    for (let count = 0; count < 3; count += 1) {
      const client = connectAndSend(port, formatGet("/idle"));
      clients.push(client);
      await waitUntil("the response arrives", () => client.getReceivedText().endsWith("ok"));
    }
    await waitUntil("the first connection is closed", () => clients[0]?.isClosed() === true);
    expect(clients.map((client) => client.isClosed())).toEqual([true, false, false]);
  });
});

describe("a port at its connection limit", () => {
  const fromLoopback = (lastOctet: number) => ({ localAddress: `127.0.0.${lastOctet}` });

  test("evicts idle connections first, then the most stalled, and none that is being processed (rule API-38)", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, advanceTime, countConnections } = await startListener(handler, {
      limits: { total: 4 },
    });
    const processingClient = connectAndSend(port, formatGet(), fromLoopback(2));
    connectAndSend(port, formatGet(), { ...fromLoopback(3), shouldRead: false });
    await waitUntil("the handler receives both requests", () => heldResponses.length === 2);
    const stalledResponse = heldResponses.find(
      ({ req }) => req.socket.remoteAddress === "127.0.0.3",
    );
    stalledResponse?.end(largeBody);
    await waitUntil("the response waits for its client", () => countConnections().sending === 1);
    await advanceTime(1_000);
    const slowHeadClient = connectAndSend(port, "GET / HTTP/1.1\r\nX-Slow: ", fromLoopback(4));
    await waitUntil("half of the headers are read", () => countConnections().receiving === 1);
    await advanceTime(6_000);
    const idle = connectAndSend(port, formatGet("/idle"), fromLoopback(5));
    await waitUntil("the response arrives", () => idle.getReceivedText().endsWith("ok"));
    const closeOrder: string[] = [];
    for (const [name, { socket }] of Object.entries({
      computing: processingClient,
      slowHead: slowHeadClient,
      idle,
    })) {
      socket.once("close", () => closeOrder.push(name));
    }
    // A client that does not read does not notice that its connection was closed.
    stalledResponse?.once("close", () => closeOrder.push("stalled"));
    for (let count = 0; count < 3; count += 1) {
      connectAndSend(port, formatGet(), fromLoopback(10 + count));
      await waitUntil("the handler receives the request", () => heldResponses.length === 3 + count);
      await waitUntil("one connection is evicted", () => closeOrder.length === count + 1);
    }
    expect(closeOrder).toEqual(["idle", "stalled", "slowHead"]);
    const rejectedClient = connectAndSend(port, formatGet(), fromLoopback(20));
    await waitUntil("the connection is rejected", rejectedClient.isClosed);
    expect(processingClient.isClosed()).toBe(false);
  });

  test("evicts the idle connections of the address with the most connections first (rule API-38)", async () => {
    const { handler } = createHoldingHandler();
    const { port } = await startListener(handler, { limits: { total: 4 } });
    const clients: ReturnType<typeof connectAndSend>[] = [];
    for (const lastOctet of [2, 3, 3, 3, 4]) {
      const client = connectAndSend(port, formatGet("/idle"), fromLoopback(lastOctet));
      clients.push(client);
      await waitUntil("the response arrives", () => client.getReceivedText().endsWith("ok"));
    }
    await waitUntil("one connection is closed", () => clients.some((client) => client.isClosed()));
    expect(clients.map((client) => client.isClosed())).toEqual([false, true, false, false, false]);
  });

  test("serves another address when one fills the port with stalled responses (rule API-38)", async () => {
    const { handler, isWaitingForClient } = createLargeResponseHandler();
    const { port, advanceTime } = await startListener(handler, { limits: { total: 4 } });
    for (let count = 0; count < 4; count += 1) {
      connectAndSend(port, formatGet(), { shouldRead: false });
      await waitUntil("the response waits for its client", () => isWaitingForClient(count));
    }
    await advanceTime(1_500);
    const newClient = connectAndSend(port, formatGet("/idle"), fromLoopback(2));
    await waitUntil("the new client is served", () => newClient.getReceivedText().endsWith("ok"));
  });

  test("evicts an active connection of an address for a new address, but not for one of similar size (rule API-38)", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, countConnections, countEndedConnections, advanceTime } = await startListener(
      handler,
      {
        limits: { total: 6 },
      },
    );
    const processingClient = connectAndSend(port, formatGet(), fromLoopback(3));
    await waitUntil("the handler receives the request", () => heldResponses.length === 1);
    const headClients = [2, 2, 2, 2, 4].map((lastOctet) =>
      connectAndSend(port, "GET / HTTP/1.1\r\nX: ", fromLoopback(lastOctet)),
    );
    await waitUntil("the clients are connected", () =>
      headClients.every(({ socket }) => socket.readyState === "open"),
    );
    await advanceTime(500);
    await waitUntil("their headers have started", () => countConnections().receiving === 5);
    const countClosed = () => headClients.filter((client) => client.isClosed()).length;
    for (let count = 1; count <= 3; count += 1) {
      const newClient = connectAndSend(port, formatGet("/idle"), fromLoopback(4 + count));
      await waitUntil("the new client is served", () => newClient.getReceivedText().endsWith("ok"));
      await waitUntil("the largest address loses a connection", () => countClosed() === count);
      newClient.socket.write("GET / HTTP/1.1\r\nX: ");
      await waitUntil("the new client sends headers", () => countConnections().receiving === 5);
      await advanceTime(500);
    }
    const rejectedClient = connectAndSend(port, formatGet("/idle"), fromLoopback(8));
    await waitUntil(
      "the connection is rejected, because no address has twice as many",
      rejectedClient.isClosed,
    );
    expect(countEndedConnections().get("refused_total")).toBe(1);
    expect([headClients[4]?.isClosed(), processingClient.isClosed(), countClosed()]).toEqual([
      false,
      false,
      3,
    ]);
  });

  test("does not evict a client that reads 50 KB per second", async () => {
    const { handler, isWaitingForClient, responses } = createLargeResponseHandler();
    const { port, advanceTime } = await startListener(handler, { limits: { total: 2 } });
    const slowClient = connectAndSend(port, formatGet(), { ...fromLoopback(2), shouldRead: false });
    await waitUntil("the response waits for its client", () => isWaitingForClient(0));
    connectAndSend(port, formatGet(), { ...fromLoopback(3), shouldRead: false });
    await waitUntil("the response waits for its client", () => isWaitingForClient(1));
    await advanceTime(7_000);
    await readAtLeast(slowClient.socket, 8_000_000);
    await advanceTime(1_000);
    const newClient = connectAndSend(port, formatGet("/idle"), fromLoopback(4));
    await waitUntil("the new client is served", () => newClient.getReceivedText().endsWith("ok"));
    expect(responses.map((res) => res.destroyed)).toEqual([false, true]);
  });

  test("does not evict a keep-alive connection that is reused for many requests", async () => {
    const { handler } = createHoldingHandler();
    const { port, countEndedConnections } = await startListener(handler, {
      limits: { total: 2, perAddress: 2 },
    });
    const client = connectAndSend(port, formatGet("/idle"));
    for (let count = 1; count <= 50; count += 1) {
      await waitUntil(
        "the response arrives",
        () => client.getReceivedText().split("200 OK").length === count + 1,
      );
      client.socket.write(formatGet("/idle"));
    }
    expect([...countEndedConnections().values()].every((count) => count === 0)).toBe(true);
  });
});
