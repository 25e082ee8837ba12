import { afterEach, describe, expect, test } from "@jest/globals";
import { Agent, type RequestListener, type ServerResponse } from "node:http";
import { type Socket, connect } from "node:net";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { setApart } from "./connections.ts";
import { type Listening, PortTakenError, listen } from "./listen.ts";
import { call } from "./testing/client.ts";

const opened: Listening[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((listening) => listening.close()));
});

const open = async (handler: RequestListener, port = 0): Promise<Listening> => {
  const listening = await listen({ handler, host: "127.0.0.1", port, variable: "PORT" });
  opened.push(listening);
  return listening;
};

const answer: RequestListener = (_req, res) => void res.end("ok");

/** A handler that keeps its answers until the test lets them go, except those to `/idle`. */
const createHolding = () => {
  const held: ServerResponse[] = [];
  const handler: RequestListener = (req, res) =>
    void (req.url === "/idle" ? res.end("ok") : held.push(res));
  return { handler, held };
};

/** A connection that remembers everything it has read. */
const openSocket = (port: number) => {
  const socket: Socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { socket, read: () => text };
};

/** A connection that got its answer. Its end shows that the grace for idle connections is over. */
const openIdleSocket = async (port: number) => {
  const { socket, read } = openSocket(port);
  socket.write("GET /idle HTTP/1.1\r\nHost: a\r\n\r\n");
  await waitUntil("the answer", () => read().includes("ok"));
  return () => waitUntil("the idle connection ends", () => hasEnded(socket));
};

const hasEnded = (socket: Socket) => socket.destroyed || socket.readableEnded;

describe("listen", () => {
  test("accepts connections once it resolves, on a port that the system chose", async () => {
    const { port } = await open(answer);
    expect((await call({ port })).text).toBe("ok");
  });

  test("given a port that is taken, says which, and which variable changes it", async () => {
    const { port } = await open(answer);
    const second = open(answer, port);
    await expect(second).rejects.toThrow(PortTakenError);
    await expect(second).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is taken; free it, or set PORT to another.`,
    );
  });

  test("given an address that is not this machine's, passes on what the system says", async () => {
    const wrong = listen({ handler: answer, host: "192.0.2.1", port: 0, variable: "PORT" });
    await expect(wrong).rejects.toThrow(/EADDRNOTAVAIL/);
    await expect(wrong).rejects.not.toThrow(PortTakenError);
  });
});

describe("beyond as many connections as a process holds", () => {
  const connectionsMax = 4;
  const connectAll = async (handler: RequestListener, texts: readonly string[]) => {
    const limits = { inAll: connectionsMax };
    const limit = { host: "127.0.0.1", port: 0, variable: "PORT", limits };
    const listening = await listen({ handler, ...limit });
    opened.push(listening);
    const clients = [];
    for (const text of texts) {
      const client = openSocket(listening.port);
      clients.push(client);
      client.socket.on("error", () => {});
      client.socket.write(text);
      await waitUntil(
        "its bytes are sent",
        () => client.socket.bytesWritten > 0 && !client.socket.connecting,
      );
    }
    return { listening, clients };
  };
  const isOpen = ({ socket }: { socket: Socket }) => !socket.closed;
  const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  test("given that all are being answered, the new one is refused and they are kept", async () => {
    const { handler, held } = createHolding();
    const { listening, clients } = await connectAll(handler, Array(connectionsMax).fill(get));
    await waitUntil("the handler has it", () => held.length === connectionsMax);
    const refused = openSocket(listening.port);
    refused.socket.on("error", () => {});
    await waitUntil("it is refused", () => !isOpen(refused));
    expect(refused.read()).toBe("");
    for (const res of held) res.end("ok");
    await waitUntil("all are answered", () => clients.every(({ read }) => read().endsWith("ok")));
  });

  test("those of endless answers are not counted, and end with the others", async () => {
    const { handler, held } = createHolding();
    const { listening, clients } = await connectAll(handler, Array(connectionsMax).fill(get));
    await waitUntil("the handler has it", () => held.length === connectionsMax);
    for (const res of held) setApart(res);
    const more = openSocket(listening.port);
    more.socket.write(get);
    await waitUntil("the handler has it", () => held.length === connectionsMax + 1);
    const closing = listening.close();
    for (const res of held) res.end("ok");
    await closing;
    await waitUntil("all are answered", () =>
      [...clients, more].every(({ read }) => read().endsWith("ok")),
    );
    // Clients learn of the end after the server.
    await waitUntil("all are ended", () => ![...clients, more].some(isOpen));
  });
});

describe("requests that one client sends without waiting for answers", () => {
  const get = (path: number) => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const many = (count: number) => Array.from({ length: count }, (_, path) => get(path)).join("");

  test("are handled one after the other, so that they take the place of one caller", async () => {
    let underWay = 0;
    let most = 0;
    const listening = await open((req, res) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setImmediate(() => {
        underWay -= 1;
        res.end(`${req.url} `);
      });
    });
    const client = openSocket(listening.port);
    client.socket.write(many(10));
    await waitUntil("ten are answered", () => client.read().split("200 OK").length === 11);
    expect(most).toBe(1);
    const answeredPaths = [...client.read().matchAll(/\/(\d+) /g)].map(([, path]) => Number(path));
    expect(answeredPaths).toEqual(Array.from({ length: 10 }, (_, path) => path));
  });

  // 2,500 connections with a hundred requests each once took more memory than a process has.
  test("end the connection where they are more than ten", async () => {
    const { handler, held } = createHolding();
    const listening = await open(handler);
    const client = openSocket(listening.port);
    client.socket.on("error", () => {});
    client.socket.write(many(12));
    await waitUntil("the connection ends", () => client.socket.closed);
    expect(held.length).toBe(1);
  });
});

describe("what is no request", () => {
  test("behind one that is being answered, adds nothing to its answer", async () => {
    const { handler, held } = createHolding();
    const { port } = await open(handler);
    const { socket, read } = openSocket(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler has it", () => held.length === 1);
    held[0]?.write("half");
    await waitUntil("half of it is read", () => read().includes("half"));
    socket.write("no request\r\n\r\n");
    await waitUntil("the connection ends", () => hasEnded(socket));
    expect(read()).toMatch(/^HTTP\/1\.1 200 (.|\r\n)*\r\n\r\n4\r\nhalf\r\n$/);
  });
});

describe("drain", () => {
  test("tells every client with its answer to leave, those under way too, and goes on serving", async () => {
    const { handler, held } = createHolding();
    const { port, drain } = await open(handler);
    const before = call({ port, headers: { connection: "keep-alive" } });
    await waitUntil("the handler has it", () => held.length === 1);
    drain();
    const after = call({ port, headers: { connection: "keep-alive" } });
    await waitUntil("the handler has it", () => held.length === 2);
    for (const res of held) res.end("ok");
    expect([(await before).headers.connection, (await after).headers.connection]).toEqual([
      "close",
      "close",
    ]);
  });
});

describe("close", () => {
  test("frees the port", async () => {
    const [port = 0] = await findFreePorts(1);
    const { close } = await open(answer, port);
    await close();
    await expect(call({ port })).rejects.toThrow("ECONNREFUSED");
    await open(answer, port);
  });

  test("without connections ends at once, and asked again ends too", async () => {
    const { close } = await open(answer);
    for (let times = 0; times < 2; times += 1) {
      let isClosed = false;
      void close().then(() => (isClosed = true));
      // One turn of the event loop: no timer is waited for.
      await new Promise((resolve) => setImmediate(resolve));
      expect(isClosed).toBe(true);
    }
  });

  test("waits for the answer under way, which arrives whole with the word to leave", async () => {
    const { handler, held } = createHolding();
    const { port, close } = await open(handler);
    const agent = new Agent({ keepAlive: true });
    const waiting = call({ port, agent });
    await waitUntil("the handler has it", () => held.length === 1);
    const graceIsOver = await openIdleSocket(port);
    let isClosed = false;
    const closing = close().finally(() => {
      isClosed = true;
    });
    await graceIsOver();
    expect(isClosed).toBe(false);
    held[0]?.end("x".repeat(1_000_000));
    const { text, headers } = await waiting;
    expect([text.length, headers.connection]).toEqual([1_000_000, "close"]);
    await closing;
    agent.destroy();
  });

  test("lets an answer whose head is already out end, and then its connection", async () => {
    const { handler, held } = createHolding();
    const { port, close } = await open(handler);
    const { socket, read } = openSocket(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler has it", () => held.length === 1);
    held[0]?.write("first ");
    await waitUntil("the first part", () => read().includes("first"));
    const graceIsOver = await openIdleSocket(port);
    const closing = close();
    await graceIsOver();
    held[0]?.end("last");
    await closing;
    await waitUntil("the connection ends", () => hasEnded(socket));
    expect(read()).toMatch(/first (.|\r\n)*last(.|\r\n)*0\r\n\r\n$/);
  });

  test("answers a request that arrives on an idle connection just after it was called", async () => {
    const { port, close } = await open(answer);
    const { socket, read } = openSocket(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the answer", () => read().includes("ok"));
    const closing = close();
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await closing;
    await waitUntil("the connection ends", () => hasEnded(socket));
    expect(read().split("HTTP/1.1 200 OK")).toHaveLength(3);
    expect(read()).toContain("Connection: close");
  });

  test("ends idle connections that stay silent", async () => {
    const { handler, held } = createHolding();
    const { port, close } = await open(handler);
    const busy = openSocket(port);
    busy.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil("the handler has it", () => held.length === 1);
    const graceIsOver = await openIdleSocket(port);
    const closing = close();
    await graceIsOver();
    // So it did not end with all others, as at the end of the whole time.
    expect(hasEnded(busy.socket)).toBe(false);
    held[0]?.end();
    await closing;
  });

  test("loses no request of clients that keep sending on kept connections", async () => {
    const { port, close } = await open((_req, res) => void setImmediate(() => res.end("ok")));
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    let answered = 0;
    const failures: string[] = [];
    const client = async () => {
      for (;;) {
        try {
          const { text } = await call({ port, agent, method: "POST", body: "x".repeat(2000) });
          if (text !== "ok") failures.push(text);
          answered += 1;
        } catch (error) {
          // Nobody listens any more, so no request was accepted that could be lost.
          if (!String(error).includes("ECONNREFUSED")) failures.push(String(error));
          return;
        }
      }
    };
    const clients = Array.from({ length: 8 }, client);
    await waitUntil("two hundred answers", () => answered > 200);
    await close();
    await Promise.all(clients);
    agent.destroy();
    expect(failures).toEqual([]);
  });
});
