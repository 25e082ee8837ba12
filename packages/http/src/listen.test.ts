import { afterEach, describe, expect, test } from "@jest/globals";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Agent, type RequestListener, type ServerResponse } from "node:http";
import { type Socket, connect } from "node:net";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { exemptConnection } from "./connections.ts";
import { type HttpListener, PortInUseError, listen } from "./listen.ts";
import { sendRequest } from "./testing/client.ts";

const listeners: HttpListener[] = [];
afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
});

const startListener = async (handler: RequestListener, port = 0): Promise<HttpListener> => {
  const listener = await listen({ handler, host: "127.0.0.1", port, portVariable: "PORT" });
  listeners.push(listener);
  return listener;
};

const sendOk: RequestListener = (_req, res) => void res.end("ok");

/**
 * Creates a handler that holds its responses until the test sends them. It responds to `/idle`
 * immediately.
 */
const createHoldingHandler = () => {
  const heldResponses: ServerResponse[] = [];
  const handler: RequestListener = (req, res) =>
    void (req.url === "/idle" ? res.end("ok") : heldResponses.push(res));
  return { handler, heldResponses };
};

/** Creates a connection that records everything it receives. */
const connectClient = (port: number) => {
  const socket: Socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { socket, getReceivedText: () => text };
};

/**
 * Creates a connection that has received its response and is now idle. When it ends, the idle grace
 * period is over.
 */
const connectIdleClient = async (port: number) => {
  const { socket, getReceivedText } = connectClient(port);
  socket.write("GET /idle HTTP/1.1\r\nHost: a\r\n\r\n");
  await waitUntil("the response arrives", () => getReceivedText().includes("ok"));
  return () => waitUntil("the idle connection ends", () => isEnded(socket));
};

const isEnded = (socket: Socket) => socket.destroyed || socket.readableEnded;

describe("listen", () => {
  test("accepts connections once it resolves, on a port that the system chose", async () => {
    const { port } = await startListener(sendOk);
    expect((await sendRequest({ port })).text).toBe("ok");
  });

  test("given a port in use, reports the port and the variable that changes it", async () => {
    const { port } = await startListener(sendOk);
    const secondListener = startListener(sendOk, port);
    await expect(secondListener).rejects.toThrow(PortInUseError);
    await expect(secondListener).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is in use. Free it, or set PORT to another port.`,
    );
  });

  test("given an address of another machine, passes on the system's error", async () => {
    const invalidListener = listen({
      handler: sendOk,
      host: "192.0.2.1",
      port: 0,
      portVariable: "PORT",
    });
    await expect(invalidListener).rejects.toThrow(/EADDRNOTAVAIL/);
    await expect(invalidListener).rejects.not.toThrow(PortInUseError);
  });
});

describe("a listener at its connection limit", () => {
  const connectionsMax = 4;
  const connectClients = async (handler: RequestListener, requestTexts: readonly string[]) => {
    const limits = { total: connectionsMax };
    const listenOptions = { host: "127.0.0.1", port: 0, portVariable: "PORT", limits };
    const listener = await listen({ handler, ...listenOptions });
    listeners.push(listener);
    const clients = [];
    for (const text of requestTexts) {
      const client = connectClient(listener.port);
      clients.push(client);
      client.socket.on("error", () => {});
      client.socket.write(text);
      await waitUntil(
        "the client has sent its bytes",
        () => client.socket.bytesWritten > 0 && !client.socket.connecting,
      );
    }
    return { listener, clients };
  };
  const isOpen = ({ socket }: { socket: Socket }) => !socket.closed;
  const getRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  test("rejects a new connection when all others are being processed, and closes none of them", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { listener, clients } = await connectClients(
      handler,
      Array(connectionsMax).fill(getRequest),
    );
    await waitUntil(
      "the handler receives the request",
      () => heldResponses.length === connectionsMax,
    );
    const rejectedClient = connectClient(listener.port);
    rejectedClient.socket.on("error", () => {});
    await waitUntil("the connection is rejected", () => !isOpen(rejectedClient));
    expect(rejectedClient.getReceivedText()).toBe("");
    for (const res of heldResponses) res.end("ok");
    await waitUntil("all responses arrive", () =>
      clients.every(({ getReceivedText }) => getReceivedText().endsWith("ok")),
    );
  });

  test("does not limit connections of endless responses, and closes them with the others", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { listener, clients } = await connectClients(
      handler,
      Array(connectionsMax).fill(getRequest),
    );
    await waitUntil(
      "the handler receives the request",
      () => heldResponses.length === connectionsMax,
    );
    for (const res of heldResponses) exemptConnection(res);
    const extraClient = connectClient(listener.port);
    extraClient.socket.write(getRequest);
    await waitUntil(
      "the handler receives the request",
      () => heldResponses.length === connectionsMax + 1,
    );
    const closing = listener.close();
    for (const res of heldResponses) res.end("ok");
    await closing;
    await waitUntil("all responses arrive", () =>
      [...clients, extraClient].every(({ getReceivedText }) => getReceivedText().endsWith("ok")),
    );
    // Clients notice later than the server that the connection is closed.
    await waitUntil("all connections are closed", () => ![...clients, extraClient].some(isOpen));
  });
});

describe("pipelined requests", () => {
  const formatGet = (path: number) => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const formatRequests = (count: number) =>
    Array.from({ length: count }, (_, path) => formatGet(path)).join("");

  test("are handled one at a time, so that they take the place of one caller", async () => {
    let activeCount = 0;
    let activeCountMax = 0;
    const listener = await startListener((req, res) => {
      activeCount += 1;
      activeCountMax = Math.max(activeCountMax, activeCount);
      setImmediate(() => {
        activeCount -= 1;
        res.end(`${req.url} `);
      });
    });
    const client = connectClient(listener.port);
    client.socket.write(formatRequests(4));
    await waitUntil(
      "four responses arrive",
      () => client.getReceivedText().split("200 OK").length === 5,
    );
    expect(activeCountMax).toBe(1);
    const answeredPaths = [...client.getReceivedText().matchAll(/\/(\d+) /g)].map(([, path]) =>
      Number(path),
    );
    expect(answeredPaths).toEqual([0, 1, 2, 3]);
  });

  test("behind a rate-limited one are dropped with their connection, so a flood costs one response", async () => {
    let requestCount = 0;
    const { port } = await startListener((_req, res) => {
      requestCount += 1;
      res.writeHead(429).end();
    });
    const client = connectClient(port);
    client.socket.write(formatRequests(4));
    await waitUntil("the connection ends", () => isEnded(client.socket));
    expect(client.getReceivedText()).toMatch(/^HTTP\/1\.1 429 /);
    expect(requestCount).toBe(1);
  });

  test("behind a stream end its connection, because they would hold memory until it ends", async () => {
    const { port } = await startListener((_req, res) => {
      exemptConnection(res);
      res.write("data");
    });
    const client = connectClient(port);
    client.socket.on("error", () => {});
    client.socket.write(formatRequests(1));
    await waitUntil("the stream starts", () => client.getReceivedText().includes("data"));
    client.socket.write(formatRequests(1));
    await waitUntil("the connection ends", () => client.socket.closed);
  });

  // Without this limit, 2,500 connections with 100 requests each exceeded a process's memory.
  test("close the connection if there are more than four", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const listener = await startListener(handler);
    const client = connectClient(listener.port);
    client.socket.on("error", () => {});
    client.socket.write(formatRequests(6));
    await waitUntil("the connection ends", () => client.socket.closed);
    expect(heldResponses.length).toBe(1);
  });

  // Parsing them once took 75 ms per connection, so one address could occupy a process.
  test("after the fifth are not even parsed", async () => {
    const { handler } = createHoldingHandler();
    const { port } = await startListener(handler);
    let parsedCount = 0;
    const countParsed = () => (parsedCount += 1);
    subscribe("http.server.request.start", countParsed);
    try {
      const client = connectClient(port);
      client.socket.on("error", () => {});
      client.socket.write(formatRequests(2_000));
      await waitUntil("the connection ends", () => client.socket.closed);
    } finally {
      unsubscribe("http.server.request.start", countParsed);
    }
    expect(parsedCount).toBe(5);
  });
});

describe("a malformed request", () => {
  test("behind a pending one adds nothing to the pending response", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port } = await startListener(handler);
    const { socket, getReceivedText } = connectClient(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler receives the request", () => heldResponses.length === 1);
    heldResponses[0]?.write("half");
    await waitUntil("half of the response arrives", () => getReceivedText().includes("half"));
    socket.write("no request\r\n\r\n");
    await waitUntil("the connection ends", () => isEnded(socket));
    expect(getReceivedText()).toMatch(/^HTTP\/1\.1 200 (.|\r\n)*\r\n\r\n4\r\nhalf\r\n$/);
  });

  test("behind a complete one ends the connection without an error that the client would take for the first response", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port } = await startListener(handler);
    const { socket, getReceivedText } = connectClient(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler receives the request", () => heldResponses.length === 1);
    socket.write("no request\r\n\r\n");
    await waitUntil("the connection ends", () => isEnded(socket));
    expect(getReceivedText()).toBe("");
  });
});

describe("drain", () => {
  test("closes every client's connection with its response, pending ones too, and continues to serve", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, drain } = await startListener(handler);
    const callBeforeDrain = sendRequest({ port, headers: { connection: "keep-alive" } });
    await waitUntil("the handler receives the request", () => heldResponses.length === 1);
    drain();
    const callAfterDrain = sendRequest({ port, headers: { connection: "keep-alive" } });
    await waitUntil("the handler receives the request", () => heldResponses.length === 2);
    for (const res of heldResponses) res.end("ok");
    expect([
      (await callBeforeDrain).headers.connection,
      (await callAfterDrain).headers.connection,
    ]).toEqual(["close", "close"]);
  });
});

describe("close", () => {
  test("frees the port", async () => {
    const [port = 0] = await findFreePorts(1);
    const { close } = await startListener(sendOk, port);
    await close();
    await expect(sendRequest({ port })).rejects.toThrow("ECONNREFUSED");
    await startListener(sendOk, port);
  });

  test("ends immediately without connections, also when called twice", async () => {
    const { close } = await startListener(sendOk);
    for (let times = 0; times < 2; times += 1) {
      let isClosed = false;
      void close().then(() => (isClosed = true));
      // Waits one turn of the event loop, in which no timer fires.
      await new Promise((resolve) => setImmediate(resolve));
      expect(isClosed).toBe(true);
    }
  });

  test("waits for the pending response, which arrives complete with Connection: close", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, close } = await startListener(handler);
    const agent = new Agent({ keepAlive: true });
    const pendingCall = sendRequest({ port, agent });
    await waitUntil("the handler receives the request", () => heldResponses.length === 1);
    const waitForIdleGrace = await connectIdleClient(port);
    let isClosed = false;
    const closing = close().finally(() => {
      isClosed = true;
    });
    await waitForIdleGrace();
    expect(isClosed).toBe(false);
    heldResponses[0]?.end("x".repeat(1_000_000));
    const { text, headers } = await pendingCall;
    expect([text.length, headers.connection]).toEqual([1_000_000, "close"]);
    await closing;
    agent.destroy();
  });

  test("completes a response whose headers are already sent, and then closes its connection", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, close } = await startListener(handler);
    const { socket, getReceivedText } = connectClient(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler receives the request", () => heldResponses.length === 1);
    heldResponses[0]?.write("first ");
    await waitUntil("the first part arrives", () => getReceivedText().includes("first"));
    const waitForIdleGrace = await connectIdleClient(port);
    const closing = close();
    await waitForIdleGrace();
    heldResponses[0]?.end("last");
    await closing;
    await waitUntil("the connection ends", () => isEnded(socket));
    expect(getReceivedText()).toMatch(/first (.|\r\n)*last(.|\r\n)*0\r\n\r\n$/);
  });

  test("serves a request that arrives on an idle connection just after the call", async () => {
    const { port, close } = await startListener(sendOk);
    const { socket, getReceivedText } = connectClient(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the response arrives", () => getReceivedText().includes("ok"));
    const closing = close();
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await closing;
    await waitUntil("the connection ends", () => isEnded(socket));
    expect(getReceivedText().split("HTTP/1.1 200 OK")).toHaveLength(3);
    expect(getReceivedText()).toContain("Connection: close");
  });

  test("closes idle connections that stay silent", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, close } = await startListener(handler);
    const busyClient = connectClient(port);
    busyClient.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler receives the request", () => heldResponses.length === 1);
    const waitForIdleGrace = await connectIdleClient(port);
    const closing = close();
    await waitForIdleGrace();
    // The idle connection ended before the timeout that ends all connections.
    expect(isEnded(busyClient.socket)).toBe(false);
    heldResponses[0]?.end();
    await closing;
  });

  test("loses no request of clients that keep sending on keep-alive connections", async () => {
    const { port, close } = await startListener(
      (_req, res) => void setImmediate(() => res.end("ok")),
    );
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    let responseCount = 0;
    const failures: string[] = [];
    const client = async () => {
      for (;;) {
        try {
          const { text } = await sendRequest({
            port,
            agent,
            method: "POST",
            body: "x".repeat(2000),
          });
          if (text !== "ok") failures.push(text);
          responseCount += 1;
        } catch (error) {
          // The port no longer accepts connections, so no accepted request was lost.
          if (!String(error).includes("ECONNREFUSED")) failures.push(String(error));
          return;
        }
      }
    };
    const clients = Array.from({ length: 8 }, client);
    await waitUntil("more than 200 responses arrive", () => responseCount > 200);
    await close();
    await Promise.all(clients);
    agent.destroy();
    expect(failures).toEqual([]);
  });
});
