import { afterEach, describe, expect, test } from "@jest/globals";
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

/** A handler that keeps its answers until the test lets them go, except those to `/idle`. */
const createHoldingHandler = () => {
  const heldResponses: ServerResponse[] = [];
  const handler: RequestListener = (req, res) =>
    void (req.url === "/idle" ? res.end("ok") : heldResponses.push(res));
  return { handler, heldResponses };
};

/** A connection that remembers everything it has read. */
const connectClient = (port: number) => {
  const socket: Socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { socket, getReceivedText: () => text };
};

/** A connection that got its answer. Its end shows that the grace for idle connections is over. */
const connectIdleClient = async (port: number) => {
  const { socket, getReceivedText } = connectClient(port);
  socket.write("GET /idle HTTP/1.1\r\nHost: a\r\n\r\n");
  await waitUntil("the answer", () => getReceivedText().includes("ok"));
  return () => waitUntil("the idle connection ends", () => isEnded(socket));
};

const isEnded = (socket: Socket) => socket.destroyed || socket.readableEnded;

describe("listen", () => {
  test("accepts connections once it resolves, on a port that the system chose", async () => {
    const { port } = await startListener(sendOk);
    expect((await sendRequest({ port })).text).toBe("ok");
  });

  test("given a port that is taken, says which, and which variable changes it", async () => {
    const { port } = await startListener(sendOk);
    const secondListener = startListener(sendOk, port);
    await expect(secondListener).rejects.toThrow(PortInUseError);
    await expect(secondListener).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is taken; free it, or set PORT to another.`,
    );
  });

  test("given an address that is not this machine's, passes on what the system says", async () => {
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

describe("beyond as many connections as a process holds", () => {
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
        "its bytes are sent",
        () => client.socket.bytesWritten > 0 && !client.socket.connecting,
      );
    }
    return { listener, clients };
  };
  const isOpen = ({ socket }: { socket: Socket }) => !socket.closed;
  const getRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  test("given that all are being answered, the new one is refused and they are kept", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { listener, clients } = await connectClients(
      handler,
      Array(connectionsMax).fill(getRequest),
    );
    await waitUntil("the handler has it", () => heldResponses.length === connectionsMax);
    const rejectedClient = connectClient(listener.port);
    rejectedClient.socket.on("error", () => {});
    await waitUntil("it is refused", () => !isOpen(rejectedClient));
    expect(rejectedClient.getReceivedText()).toBe("");
    for (const res of heldResponses) res.end("ok");
    await waitUntil("all are answered", () =>
      clients.every(({ getReceivedText }) => getReceivedText().endsWith("ok")),
    );
  });

  test("those of endless answers are not counted, and end with the others", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { listener, clients } = await connectClients(
      handler,
      Array(connectionsMax).fill(getRequest),
    );
    await waitUntil("the handler has it", () => heldResponses.length === connectionsMax);
    for (const res of heldResponses) exemptConnection(res);
    const extraClient = connectClient(listener.port);
    extraClient.socket.write(getRequest);
    await waitUntil("the handler has it", () => heldResponses.length === connectionsMax + 1);
    const closing = listener.close();
    for (const res of heldResponses) res.end("ok");
    await closing;
    await waitUntil("all are answered", () =>
      [...clients, extraClient].every(({ getReceivedText }) => getReceivedText().endsWith("ok")),
    );
    // Clients learn of the end after the server.
    await waitUntil("all are ended", () => ![...clients, extraClient].some(isOpen));
  });
});

describe("requests that one client sends without waiting for answers", () => {
  const formatGet = (path: number) => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const formatRequests = (count: number) =>
    Array.from({ length: count }, (_, path) => formatGet(path)).join("");

  test("are handled one after the other, so that they take the place of one caller", async () => {
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
    client.socket.write(formatRequests(10));
    await waitUntil(
      "ten are answered",
      () => client.getReceivedText().split("200 OK").length === 11,
    );
    expect(activeCountMax).toBe(1);
    const answeredPaths = [...client.getReceivedText().matchAll(/\/(\d+) /g)].map(([, path]) =>
      Number(path),
    );
    expect(answeredPaths).toEqual(Array.from({ length: 10 }, (_, path) => path));
  });

  // 2,500 connections with a hundred requests each once took more memory than a process has.
  test("end the connection where they are more than ten", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const listener = await startListener(handler);
    const client = connectClient(listener.port);
    client.socket.on("error", () => {});
    client.socket.write(formatRequests(12));
    await waitUntil("the connection ends", () => client.socket.closed);
    expect(heldResponses.length).toBe(1);
  });
});

describe("what is no request", () => {
  test("behind one that is being answered, adds nothing to its answer", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port } = await startListener(handler);
    const { socket, getReceivedText } = connectClient(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler has it", () => heldResponses.length === 1);
    heldResponses[0]?.write("half");
    await waitUntil("half of it is read", () => getReceivedText().includes("half"));
    socket.write("no request\r\n\r\n");
    await waitUntil("the connection ends", () => isEnded(socket));
    expect(getReceivedText()).toMatch(/^HTTP\/1\.1 200 (.|\r\n)*\r\n\r\n4\r\nhalf\r\n$/);
  });
});

describe("drain", () => {
  test("tells every client with its answer to leave, those under way too, and goes on serving", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, drain } = await startListener(handler);
    const callBeforeDrain = sendRequest({ port, headers: { connection: "keep-alive" } });
    await waitUntil("the handler has it", () => heldResponses.length === 1);
    drain();
    const callAfterDrain = sendRequest({ port, headers: { connection: "keep-alive" } });
    await waitUntil("the handler has it", () => heldResponses.length === 2);
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

  test("without connections ends at once, and asked again ends too", async () => {
    const { close } = await startListener(sendOk);
    for (let times = 0; times < 2; times += 1) {
      let isClosed = false;
      void close().then(() => (isClosed = true));
      // One turn of the event loop: no timer is waited for.
      await new Promise((resolve) => setImmediate(resolve));
      expect(isClosed).toBe(true);
    }
  });

  test("waits for the answer under way, which arrives whole with the word to leave", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, close } = await startListener(handler);
    const agent = new Agent({ keepAlive: true });
    const pendingCall = sendRequest({ port, agent });
    await waitUntil("the handler has it", () => heldResponses.length === 1);
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

  test("lets an answer whose head is already out end, and then its connection", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, close } = await startListener(handler);
    const { socket, getReceivedText } = connectClient(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler has it", () => heldResponses.length === 1);
    heldResponses[0]?.write("first ");
    await waitUntil("the first part", () => getReceivedText().includes("first"));
    const waitForIdleGrace = await connectIdleClient(port);
    const closing = close();
    await waitForIdleGrace();
    heldResponses[0]?.end("last");
    await closing;
    await waitUntil("the connection ends", () => isEnded(socket));
    expect(getReceivedText()).toMatch(/first (.|\r\n)*last(.|\r\n)*0\r\n\r\n$/);
  });

  test("answers a request that arrives on an idle connection just after it was called", async () => {
    const { port, close } = await startListener(sendOk);
    const { socket, getReceivedText } = connectClient(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the answer", () => getReceivedText().includes("ok"));
    const closing = close();
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await closing;
    await waitUntil("the connection ends", () => isEnded(socket));
    expect(getReceivedText().split("HTTP/1.1 200 OK")).toHaveLength(3);
    expect(getReceivedText()).toContain("Connection: close");
  });

  test("ends idle connections that stay silent", async () => {
    const { handler, heldResponses } = createHoldingHandler();
    const { port, close } = await startListener(handler);
    const busyClient = connectClient(port);
    busyClient.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler has it", () => heldResponses.length === 1);
    const waitForIdleGrace = await connectIdleClient(port);
    const closing = close();
    await waitForIdleGrace();
    // So it did not end with all others, as at the end of the whole time.
    expect(isEnded(busyClient.socket)).toBe(false);
    heldResponses[0]?.end();
    await closing;
  });

  test("loses no request of clients that keep sending on kept connections", async () => {
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
          // Nobody listens any more, so no request was accepted that could be lost.
          if (!String(error).includes("ECONNREFUSED")) failures.push(String(error));
          return;
        }
      }
    };
    const clients = Array.from({ length: 8 }, client);
    await waitUntil("two hundred answers", () => responseCount > 200);
    await close();
    await Promise.all(clients);
    agent.destroy();
    expect(failures).toEqual([]);
  });
});
