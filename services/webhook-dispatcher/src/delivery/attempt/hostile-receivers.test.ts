import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { startRawServer } from "../../testing/start-raw-server.ts";
import { type Rig, createRig } from "../../testing/create-rig.ts";

const timeoutMs = 10_000;
const drainBytesMax = 64 * 1024;
/** A client that reads this much of a response reads without a limit. */
const floodBytesMax = 64 * 1024 * 1024;

/** Writes repeatedly, as fast as the client reads, up to `floodBytesMax`. */
const writeForever = (socket: Socket, text: string): void => {
  const chunk = text.repeat(Math.ceil(drainBytesMax / text.length));
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk)) continue;
    floodBytes = socket.bytesWritten;
    if (floodBytes > floodBytesMax) socket.destroy();
  };
  socket.on("drain", write);
  write();
};

const createHead = (status: string): string => `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\n`;
const chunkedHead = `${createHead("200 OK")}Transfer-Encoding: chunked\r\n\r\n`;
const continueResponse = "HTTP/1.1 100 Continue\r\n\r\n";
const finalOk = `${createHead("200 OK")}Connection: close\r\n\r\n`;
let floodBytes = 0;
const drips = new Set<NodeJS.Timeout>();
let dripsCount = 0;
const drip = (socket: Socket, text: string): void => {
  const timer = setInterval(() => socket.write(text) && (dripsCount += 1), 20);
  drips.add(timer);
  socket.on("close", () => clearInterval(timer));
};

const behaviors: Record<string, (socket: Socket) => void> = {
  // A response to a TLS handshake, which is not an HTTP request.
  "": (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
  hang: () => {},
  "close-early": (socket) => socket.destroy(),
  "half-status-line": (socket) => socket.end("HTTP/1.1 20"),
  garbage: (socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n\r\n"),
  "endless-headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    writeForever(socket, `X-${"a".repeat(1000)}: b\r\n`);
  },
  "drip-head": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nX-A: ");
    drip(socket, "a");
  },
  "drip-103": (socket) => drip(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"),
  "drip-200": (socket) => {
    socket.write(`${createHead("200 OK")}Content-Length: 10000\r\n\r\n`);
    drip(socket, "a");
  },
  "drip-500": (socket) => {
    socket.write(`${createHead("500 No")}Content-Length: 10000\r\n\r\n`);
    drip(socket, "a");
  },
  "endless-body": (socket) => {
    socket.write(chunkedHead);
    writeForever(socket, `4000\r\n${"a".repeat(16 * 1024)}\r\n`);
  },
  "endless-extension": (socket) => {
    socket.write(`${chunkedHead}1;`);
    writeForever(socket, "a");
  },
  "endless-length": (socket) => {
    socket.write(chunkedHead);
    writeForever(socket, "0");
  },
  "endless-lines": (socket) => writeForever(socket, "\r\n"),
  "endless-103": (socket) => writeForever(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"),
  "100-and-200": (socket) => socket.end(`${continueResponse}${continueResponse}${finalOk}`),
  "100-then-200": (socket) => {
    socket.write(continueResponse, () => setImmediate(() => socket.end(finalOk)));
  },
  "100-alone": (socket) => socket.end(continueResponse),
  "wrong-length": (socket) =>
    socket.end(`${createHead("200 OK")}Content-Length: 99999\r\n\r\nshort`),
  "http-10": (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nbye"),
  bomb: (socket) =>
    socket.end(`${createHead("200 OK")}Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc`),
};

let server: Awaited<ReturnType<typeof startRawServer>>;
let rig: Rig;
beforeAll(async () => {
  server = await startRawServer(behaviors);
  const overrides = [
    `receiver.test=${server.origin}`,
    "closed.test=http://127.0.0.1:1",
    `plain.test=${server.origin.replace("http:", "https:")}`,
  ];
  rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: overrides.join(",") },
    outside: { resolve },
  });
  await rig.service.start();
});
afterAll(async () => {
  await rig.close();
  server.close();
});
afterEach(() => {
  for (const timer of drips) clearInterval(timer);
});

/**
 * DNS results by host: the first one is for the registration, the following ones are for the
 * attempts.
 */
const resolutions: Record<string, string[][]> = {};
const resolve = async (hostName: string): Promise<string[]> => {
  const addresses = resolutions[hostName]?.shift();
  if (addresses === undefined) throw new Error("NXDOMAIN at ns1.inside.local");
  return addresses;
};

/** Sends one webhook to the URL. Returns its log entry after the attempt. */
const attemptUrl = async (url: string, { advanceMs = 0 } = {}) => {
  const person = rig.signIn();
  const endpoint = await rig.register(person, url);
  const openCountBefore = server.openCount();
  const dripsBefore = dripsCount;
  await rig.publishCompleted(person);
  if (advanceMs > 0) {
    await waitUntil("the receiver gets a connection", () => server.openCount() > openCountBefore);
    if (url.includes("drip")) await waitUntil("bytes drip", () => dripsCount > dripsBefore + 5);
    rig.clock.advance(advanceMs);
  }
  return waitUntil("the attempt has ended", async () => {
    const [entry] = await rig.readLog(person, endpoint);
    const hasEnded = entry?.["status"] === "Delivered" || entry?.["nextAttemptAt"] !== null;
    return entry?.["attempts"] === 1 && hasEnded ? entry : undefined;
  });
};

describe("a receiver", () => {
  test.each(["hang", "drip-103"])(
    "with behavior %s occupies a slot for ten seconds at most (rule HOOK-13)",
    async (path) => {
      const entry = await attemptUrl(`https://receiver.test/${path}`, { advanceMs: timeoutMs });
      expect(entry).toMatchObject({ status: "Pending", httpStatus: null, error: "time-out" });
    },
  );

  test.each([
    ["close-early", "connection closed before an answer"],
    ["half-status-line", "connection closed before an answer"],
    ["100-alone", "connection closed before an answer"],
    ["garbage", "answer is not valid HTTP"],
  ])("with behavior %s fails the attempt: %s", async (path, error) => {
    const entry = await attemptUrl(`https://receiver.test/${path}`);
    expect(entry).toMatchObject({ status: "Pending", httpStatus: null, error });
  });

  test.each(["100-and-200", "100-then-200", "wrong-length", "http-10", "bomb"])(
    "with behavior %s gets a successful delivery because it sends a 2xx (rule HOOK-13)",
    async (path) => {
      expect(await attemptUrl(`https://receiver.test/${path}`)).toMatchObject({
        status: "Delivered",
        httpStatus: 200,
      });
    },
  );

  const [delivered, failed] = [
    { status: "Delivered", httpStatus: 200, error: null },
    { status: "Pending", httpStatus: null, error: "answer is too long" },
  ];
  test.each([
    ["endless-body", delivered],
    ["endless-extension", delivered],
    ["endless-length", delivered],
    ["endless-headers", delivered],
    ["endless-lines", failed],
    ["endless-103", failed],
  ])(
    "with an endless response (%s) is read only up to a limit (rule HOOK-13)",
    async (path, expected) => {
      expect(await attemptUrl(`https://receiver.test/${path}`)).toMatchObject(expected);
      // Bytes that are already in kernel buffers on both ends cannot be stopped.
      expect(floodBytes).toBeLessThan(8 * 1024 * 1024 + drainBytesMax);
    },
  );

  test.each([
    ["drip-head", { status: "Delivered", httpStatus: 200, error: null }],
    ["drip-200", { status: "Delivered", httpStatus: 200, error: null }],
    ["drip-500", { status: "Pending", httpStatus: 500, error: "status 500" }],
  ])(
    "with dripping headers or body (%s) gets the outcome of its status line at the deadline",
    async (path, expected) => {
      expect(
        await attemptUrl(`https://receiver.test/${path}`, { advanceMs: timeoutMs }),
      ).toMatchObject(expected);
    },
  );

  test("that refuses the connection fails the attempt", async () => {
    const entry = await attemptUrl("https://closed.test/");
    expect(entry).toMatchObject({ httpStatus: null, error: "connection refused" });
  });

  test("that does not speak TLS fails the attempt", async () => {
    const entry = await attemptUrl("https://plain.test/hook");
    expect(entry).toMatchObject({ httpStatus: null, error: "TLS: handshake failed" });
  });
});

describe("a host", () => {
  test("rebound to a private address after registration is blocked, without showing the address", async () => {
    resolutions["rebound.com"] = [["93.184.216.34"], ["10.9.8.7"]];
    const entry = await attemptUrl("https://rebound.com/hook");
    expect(entry).toMatchObject({ status: "Pending", httpStatus: null, error: "blocked address" });
    expect(JSON.stringify(entry)).not.toContain("10.9.8.7");
  });

  test("that no longer resolves fails the attempt, without showing the name server's error", async () => {
    resolutions["gone.com"] = [["93.184.216.34"]];
    const entry = await attemptUrl("https://gone.com/hook");
    expect(entry).toMatchObject({ httpStatus: null, error: "DNS: host name does not resolve" });
  });

  test("whose name server hangs occupies a slot for ten seconds at most", async () => {
    resolutions["slow.com"] = [["93.184.216.34"]];
    const slowRig = await createRig({
      outside: {
        resolve: (name) => (resolutions[name]?.length ? resolve(name) : new Promise(() => {})),
      },
    });
    await slowRig.service.start();
    const owner = slowRig.signIn();
    const endpoint = await slowRig.register(owner, "https://slow.com/");
    await slowRig.publishCompleted(owner);
    const readEntry = async () => (await slowRig.readLog(owner, endpoint))[0];
    await waitUntil(
      "the attempt is in progress",
      async () => (await readEntry())?.["attempts"] === 1,
    );
    slowRig.clock.advance(timeoutMs);
    await waitUntil(
      "the attempt has timed out",
      async () => (await readEntry())?.["error"] === "time-out",
    );
    await slowRig.close();
  });
});

describe("a stored URL that the rules no longer allow", () => {
  test.each([
    ["http", (origin: string) => origin],
    ["a literal with a port", (origin: string) => origin.replace("http:", "https:")],
    ["localhost", () => "https://localhost/hook"],
    ["credentials", () => "https://user:word@receiver.test/hook"],
    ["a port on an overridden host", () => "https://receiver.test:8443/hook"],
    ["a private literal", () => "https://[::ffff:127.0.0.1]/hook"],
    ["a fragment", () => "https://receiver.test/hook#x"],
  ])("is blocked at every attempt: %s", async (_name, urlFor) => {
    const person = rig.signIn();
    const endpoint = await rig.register(person);
    const acceptedBefore = server.openedCount();
    await rig.pool.query(sql.type(z.object({}).strict())`
      UPDATE endpoints SET url = ${urlFor(server.origin)} WHERE id = ${endpoint.id}
    `);
    await rig.publishCompleted(person);
    const entry = await waitUntil("the attempt has ended", async () =>
      (await rig.readLog(person, endpoint)).find(({ error }) => error !== null),
    );
    expect(entry).toMatchObject({ httpStatus: null, error: "blocked address" });
    expect(server.openedCount()).toBe(acceptedBefore);
  });
});

test("every attempt releases its slot and closes its connection to a misbehaving receiver", async () => {
  await waitUntil("misused connections are closed", () => server.openCount() <= 1);
  const metric = await rig.metrics.getSingleMetricAsString("payment_links_webhook_attempts_total");
  for (const outcome of [
    "timeout",
    "closed",
    "invalid_answer",
    "delivered",
    "refused",
    "tls",
    "blocked",
    "dns",
  ]) {
    expect(metric).toMatch(new RegExp(`outcome="${outcome}".*\\} [1-9]`));
  }
});
