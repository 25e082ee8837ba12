import { type Socket, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { request } from "undici";
import { type Merchant, createMerchant } from "./rig/client.ts";
import { percentile } from "./rig/percentile.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { readResidentBytes, watchMemory } from "./rig/resident-memory.ts";
import { sealingKeyEntry } from "./rig/shop-env.ts";

const slowConnectionCount = 2_000;
const dripIntervalMs = 5_000;
const requestCount = 400;
const growthBytesMax = 256 * 1024 * 1024;
/** A delay that would be noticeable to a caller on an idle machine. */
const noticeableMs = 1_500;
const unreadConnectionCount = 20;
/** The maximum number of requests per connection. */
const pipelinedMax = 4;
const pipelineMs = 50;

const head =
  "POST /console/api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
/**
 * The beginnings of requests that make a server wait for the rest. Most of them are almost as large
 * as the server's buffer for a request.
 */
const partialRequests = [
  `${head}X-Long: ${"x".repeat(12_000)}`,
  `${head}Content-Length: 64000\r\n\r\n{"token":"${"x".repeat(60_000)}`,
  `${head}Transfer-Encoding: chunked\r\n\r\nea60\r\n${"x".repeat(59_000)}`,
  "POST /",
];

let system: RealSystem;
let merchant: Merchant;
let otherMerchant: Merchant;

beforeAll(async () => {
  system = await startRealSystem({
    replicasPerService: 1,
    startedServices: ["auth-keys"],
    env: {
      WEBHOOK_SECRET_KEYS: sealingKeyEntry,
      RATE_LIMIT_PER_IP: "100000:100000",
      // Attackers and callers share one address here.
      CONNECTIONS_PER_IP_MAX: "2500",
    },
  });
  merchant = await createMerchant(system, "patient");
  otherMerchant = await createMerchant(system, "other");
});
afterAll(() => system?.close());

/** Opens slow connections until stopped. Reopens each connection that the server closes. */
const openSlowConnections = (port: number) => {
  const sockets = new Set<Socket>();
  const cutIndexes = new Set<number>();
  let isStopped = false;
  const openSocket = (index: number) => {
    const socket = connect(port, "127.0.0.1");
    sockets.add(socket);
    socket.write(partialRequests[index % partialRequests.length] ?? "");
    socket.on("error", () => {});
    socket.resume();
    socket.once("close", () => {
      sockets.delete(socket);
      cutIndexes.add(index);
      if (!isStopped) openSocket(index);
    });
  };
  for (let index = 0; index < slowConnectionCount; index += 1) openSocket(index);
  const timer = setInterval(() => {
    for (const socket of sockets) if (!socket.connecting) socket.write("x");
  }, dripIntervalMs);
  return {
    getHeldCount: () => [...sockets].filter(({ connecting }) => !connecting).length,
    getCutCount: () => cutIndexes.size,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
};

/** Sends sequential requests of one caller. Returns the 99th percentile of the response times. */
const measureP99 = async (port: number): Promise<number> => {
  const waitsMs: number[] = [];
  for (let index = 0; index < requestCount; index += 1) {
    const startedAt = performance.now();
    const response = await request(`http://127.0.0.1:${port}/console/api/account`, {
      headers: { cookie: merchant.cookie },
    });
    await response.body.dump();
    expect(response.statusCode).toBe(200);
    waitsMs.push(performance.now() - startedAt);
  }
  return percentile(waitsMs, 0.99);
};

/**
 * Sends ten requests repeatedly without reading the responses. The kernel buffers the first
 * responses. The others wait in the server until it closes the connection. Reconnects whenever the
 * connection is closed.
 */
const openUnreadConnection = (port: number, cookie: string) => {
  const pipelinedRequest = `GET /console/api/account HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookie}\r\n\r\n`;
  let isStopped = false;
  let cutCount = 0;
  const openSocket = (): Socket => {
    const newSocket = connect(port, "127.0.0.1").pause();
    newSocket.on("error", () => {});
    newSocket.once("close", () => {
      cutCount += 1;
      if (!isStopped) socket = openSocket();
    });
    return newSocket;
  };
  let socket = openSocket();
  const timer = setInterval(() => {
    if (!socket.connecting && socket.writable) socket.write(pipelinedRequest.repeat(pipelinedMax));
  }, pipelineMs);
  return {
    getCutCount: () => cutCount,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      socket.destroy();
    },
  };
};

const formatMib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;

const getAuthKeysReplica = () => {
  const [replica] = system.replicas;
  if (replica === undefined) throw new Error("the process is missing");
  return replica;
};

describe("2,000 slow connections with requests that never end", () => {
  test("do not delay other callers, use bounded memory, and are cut", async () => {
    const authKeysReplica = getAuthKeysReplica();
    const { port } = authKeysReplica;
    await measureP99(port);
    const p99BeforeMs = await measureP99(port);
    const residentBefore = readResidentBytes(authKeysReplica.pid());
    const memory = watchMemory(authKeysReplica.pid());
    const slowConnections = openSlowConnections(port);
    try {
      await waitUntil(
        "all slow connections are open",
        () => slowConnections.getHeldCount() >= slowConnectionCount,
      );
      const p99DuringMs = await measureP99(port);
      await waitUntil(
        "each connection was closed",
        () => slowConnections.getCutCount() >= slowConnectionCount,
      );
      const maxResidentBytes = memory.stop();
      process.stderr.write(
        `p99 ${p99BeforeMs.toFixed(0)} ms before, ${p99DuringMs.toFixed(0)} ms during (${(p99DuringMs / p99BeforeMs).toFixed(2)}); ` +
          `resident ${formatMib(residentBefore)} before, ${formatMib(maxResidentBytes)} at most\n`,
      );
      // Detects responses that are delayed until a slow connection is closed. The ratio is only
      // printed.
      expect(p99DuringMs).toBeLessThan(hangLimitMs(noticeableMs));
      expect(maxResidentBytes - residentBefore).toBeLessThan(growthBytesMax);
    } finally {
      memory.stop();
      slowConnections.stop();
    }
  });
});

describe("pipelined requests", () => {
  test("of two callers in turn on one connection are answered in order, each for its own caller", async () => {
    const callers = [merchant, otherMerchant, { cookie: "", userId: "" }];
    const getCaller = (requestIndex: number) => callers[requestIndex % callers.length] ?? merchant;
    const socket = connect(getAuthKeysReplica().port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
    for (let requestIndex = 0; requestIndex < pipelinedMax; requestIndex += 1) {
      const { cookie } = getCaller(requestIndex);
      const lines = ["GET /console/api/account HTTP/1.1", "Host: 127.0.0.1", `Cookie: ${cookie}`];
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    }
    const splitResponses = () => received.split("HTTP/1.1 ").slice(1);
    const hasAllResponses = () =>
      splitResponses().length === pipelinedMax && received.endsWith("}");
    await waitUntil("all responses arrive", hasAllResponses);
    socket.destroy();
    const userIds = splitResponses().map(
      (response) => /"id":"(user_\w+)"/.exec(response)?.[1] ?? "",
    );
    expect(userIds).toEqual(
      Array.from({ length: pipelinedMax }, (_, requestIndex) => getCaller(requestIndex).userId),
    );
  });

  test("of callers who never read use bounded memory, do not delay other callers, and are cut", async () => {
    const authKeysReplica = getAuthKeysReplica();
    const { port } = authKeysReplica;
    const p99BeforeMs = await measureP99(port);
    const residentBefore = readResidentBytes(authKeysReplica.pid());
    const memory = watchMemory(authKeysReplica.pid());
    const callers = Array.from({ length: unreadConnectionCount }, () =>
      openUnreadConnection(port, merchant.cookie),
    );
    try {
      const p99DuringMs = await measureP99(port);
      await waitUntil("each connection was closed", () =>
        callers.every(({ getCutCount }) => getCutCount() > 0),
      );
      const maxResidentBytes = memory.stop();
      process.stderr.write(
        `p99 ${p99BeforeMs.toFixed(0)} ms before, ${p99DuringMs.toFixed(0)} ms during (${(p99DuringMs / p99BeforeMs).toFixed(2)}); ` +
          `resident ${formatMib(residentBefore)} before, ${formatMib(maxResidentBytes)} at most\n`,
      );
      expect(p99DuringMs).toBeLessThan(hangLimitMs(noticeableMs));
      expect(maxResidentBytes - residentBefore).toBeLessThan(growthBytesMax);
    } finally {
      memory.stop();
      for (const caller of callers) caller.stop();
    }
  });
});
