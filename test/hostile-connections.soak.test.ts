import { type Socket, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { request } from "undici";
import { type Merchant, openMerchant } from "./rig/client.ts";
import { percentile } from "./rig/percentile.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { residentBytesOf, watchMemory } from "./rig/resident-memory.ts";
import { sealingKey } from "./rig/shop-env.ts";

const slowCount = 2_000;
const dripMs = 5_000;
const askedCount = 400;
const growthBytesMax = 256 * 1024 * 1024;
/** What a caller would notice on a quiet machine. */
const noticedMs = 1_500;
const pipelinedCount = 9;
const unreadingCount = 20;
/** As many requests as a connection may have. */
const pipelinedMax = 10;
const pipelineMs = 50;

const head =
  "POST /console/api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
/** How callers make a server wait, each having sent nearly as much as it keeps of a request. */
const starts = [
  `${head}X-Long: ${"x".repeat(12_000)}`,
  `${head}Content-Length: 64000\r\n\r\n{"token":"${"x".repeat(60_000)}`,
  `${head}Transfer-Encoding: chunked\r\n\r\nea60\r\n${"x".repeat(59_000)}`,
  "POST /",
];

let system: RealSystem;
let merchant: Merchant;
let other: Merchant;

beforeAll(async () => {
  system = await openRealSystem({
    replicasPerService: 1,
    only: ["auth-keys"],
    env: {
      WEBHOOK_SECRET_KEYS: sealingKey,
      RATE_LIMIT_PER_IP: "100000:100000",
      // Attackers and callers share one address here.
      CONNECTIONS_PER_IP_MAX: "2500",
    },
  });
  merchant = await openMerchant(system, "patient");
  other = await openMerchant(system, "other");
});
afterAll(() => system?.close());

/** Opens slow connections, each again as soon as it is cut, until told to stop. */
const openSlow = (port: number) => {
  const sockets = new Set<Socket>();
  const cut = new Set<number>();
  let isStopped = false;
  const open = (index: number) => {
    const socket = connect(port, "127.0.0.1");
    sockets.add(socket);
    socket.write(starts[index % starts.length] ?? "");
    socket.on("error", () => {});
    socket.resume();
    socket.once("close", () => {
      sockets.delete(socket);
      cut.add(index);
      if (!isStopped) open(index);
    });
  };
  for (let index = 0; index < slowCount; index += 1) open(index);
  const timer = setInterval(() => {
    for (const socket of sockets) if (!socket.connecting) socket.write("x");
  }, dripMs);
  return {
    heldCount: () => [...sockets].filter(({ connecting }) => !connecting).length,
    cutCount: () => cut.size,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
};

/** The 99th percentile of how long one caller waits for his answers, one after the other. */
const askFor = async (port: number): Promise<number> => {
  const waited: number[] = [];
  for (let asked = 0; asked < askedCount; asked += 1) {
    const startedAt = performance.now();
    const answer = await request(`http://127.0.0.1:${port}/console/api/account`, {
      headers: { cookie: merchant.cookie },
    });
    await answer.body.dump();
    expect(answer.statusCode).toBe(200);
    waited.push(performance.now() - startedAt);
  }
  return percentile(waited, 0.99);
};

/**
 * Sends ten requests again and again and reads no answer: the kernel holds the first ones, then they
 * wait in the server until it cuts the connection. Connects again whenever it is cut.
 */
const openUnreading = (port: number, cookie: string) => {
  const one = `GET /console/api/account HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookie}\r\n\r\n`;
  let isStopped = false;
  let cutCount = 0;
  const open = (): Socket => {
    const opened = connect(port, "127.0.0.1").pause();
    opened.on("error", () => {});
    opened.once("close", () => {
      cutCount += 1;
      if (!isStopped) socket = open();
    });
    return opened;
  };
  let socket = open();
  const timer = setInterval(() => {
    if (!socket.connecting && socket.writable) socket.write(one.repeat(pipelinedMax));
  }, pipelineMs);
  return {
    cutCount: () => cutCount,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      socket.destroy();
    },
  };
};

const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;

const authKeys = () => {
  const [found] = system.replicas;
  if (found === undefined) throw new Error("there is no process");
  return found;
};

describe("2,000 connections that send slowly what never ends", () => {
  test("keep nobody else waiting, cost a bounded memory, and are cut", async () => {
    const found = authKeys();
    const { port } = found;
    await askFor(port);
    const before = await askFor(port);
    const residentBefore = residentBytesOf(found.pid());
    const memory = watchMemory(found.pid());
    const slow = openSlow(port);
    try {
      await waitUntil("all are held", () => slow.heldCount() >= slowCount);
      const during = await askFor(port);
      await waitUntil("each was cut", () => slow.cutCount() >= slowCount);
      const most = memory.stop();
      process.stderr.write(
        `p99 ${before.toFixed(0)} ms before, ${during.toFixed(0)} ms during (${(during / before).toFixed(2)}); ` +
          `resident ${mib(residentBefore)} before, ${mib(most)} at most\n`,
      );
      // Guards against answers that wait until a slow connection is cut. The ratio is printed.
      expect(during).toBeLessThan(hangLimitMs(noticedMs));
      expect(most - residentBefore).toBeLessThan(growthBytesMax);
    } finally {
      memory.stop();
      slow.stop();
    }
  });
});

describe("requests sent without waiting for answers", () => {
  test("of two callers by turns on one connection are answered in order, each for himself", async () => {
    const callers = [merchant, other, { cookie: "", userId: "" }];
    const turn = (n: number) => callers[n % callers.length] ?? merchant;
    const socket = connect(authKeys().port, "127.0.0.1");
    let text = "";
    socket.on("data", (part: Buffer) => (text += part.toString("latin1")));
    for (let n = 0; n < pipelinedCount; n += 1) {
      const { cookie } = turn(n);
      const lines = ["GET /console/api/account HTTP/1.1", "Host: 127.0.0.1", `Cookie: ${cookie}`];
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    }
    const answers = () => text.split("HTTP/1.1 ").slice(1);
    const isWhole = () => answers().length === pipelinedCount && text.endsWith("}");
    await waitUntil("all answers", isWhole);
    socket.destroy();
    const told = answers().map((answer) => /"id":"(user_\w+)"/.exec(answer)?.[1] ?? "");
    expect(told).toEqual(Array.from({ length: pipelinedCount }, (_, n) => turn(n).userId));
  });

  test("by callers who never read cost a bounded memory, keep nobody else waiting, and are cut", async () => {
    const found = authKeys();
    const { port } = found;
    const before = await askFor(port);
    const residentBefore = residentBytesOf(found.pid());
    const memory = watchMemory(found.pid());
    const callers = Array.from({ length: unreadingCount }, () =>
      openUnreading(port, merchant.cookie),
    );
    try {
      const during = await askFor(port);
      await waitUntil("each was cut", () => callers.every(({ cutCount }) => cutCount() > 0));
      const most = memory.stop();
      process.stderr.write(
        `p99 ${before.toFixed(0)} ms before, ${during.toFixed(0)} ms during (${(during / before).toFixed(2)}); ` +
          `resident ${mib(residentBefore)} before, ${mib(most)} at most\n`,
      );
      expect(during).toBeLessThan(hangLimitMs(noticedMs));
      expect(most - residentBefore).toBeLessThan(growthBytesMax);
    } finally {
      memory.stop();
      for (const caller of callers) caller.stop();
    }
  });
});
