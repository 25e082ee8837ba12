import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { busMigrations, ensureTopics, prefixTopics } from "@payment-links/bus";
import { testBrokers } from "@payment-links/bus/testing";
import { topicSettings } from "@payment-links/contracts";
import { migrate } from "@payment-links/postgres";
import { type TestDatabase, createTestDatabase } from "@payment-links/postgres/testing";
import { claimRedisDatabase } from "@payment-links/rate-limit/testing/claim-redis-database";
import { openLog } from "@payment-links/runtime";
import { openTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Tiny, startTiny } from "./testing/start-tiny.ts";

const log = openLog({ service: "test", level: "silent" });
const brokers = testBrokers();
const redisUrl = await claimRedisDatabase();
const schema = "tiny";
/** A closed port on loopback stands for a server that is away. */
const away = "127.0.0.1:9";

let database: TestDatabase;
let started: Tiny[] = [];
/** Ends what a test began, even if the test failed in between. */
const cleanUps: (() => unknown)[] = [];

beforeEach(async () => {
  database = await createTestDatabase([]);
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  await Promise.all(started.map((running) => running.stop()));
  started = [];
  await database.drop();
});

const migrateTiny = () =>
  migrate({
    adminUrl: database.adminUrl,
    role: { name: schema, password: "test" },
    schema,
    folders: [busMigrations],
  });

const start = async (environment: Record<string, string> = {}): Promise<Tiny> => {
  const [port = 0, internalPort = 0] = await findFreePorts(2);
  const env = {
    DATABASE_URL: database.urlOf(schema),
    KAFKA_BROKERS: away,
    REDIS_URL: `redis://${away}`,
    ...environment,
  };
  const tiny = await startTiny(env, { port, internalPort });
  started.push(tiny);
  return tiny;
};

const isReady = (tiny: Tiny) => async () => (await tiny.probe("/readyz")) === "200 ready";

const waitReady = async (tiny: Tiny, what = "it is ready") => {
  let answer: string | undefined;
  await waitUntil(
    () =>
      `${what}; it answered ${answer}, and wrote last:\n${tiny.linesWith("").slice(-5).join("\n")}`,
    async () => {
      answer = await tiny.probe("/readyz");
      return answer === "200 ready";
    },
  );
};

/** Counts the looks at a process, and those at which it did not live. */
const watchLife = (tiny: Tiny) => {
  const failures: string[] = [];
  let looks = 0;
  const timer = setInterval(async () => {
    const answer = await tiny.probe("/livez");
    looks += 1;
    if (answer !== "200 ok") failures.push(String(answer));
  }, 100);
  cleanUps.push(() => clearInterval(timer));
  return { failures, looks: () => looks };
};

describe("a process", () => {
  test("that meets no schema waits, alive and not ready, and goes on when it is there", async () => {
    const tiny = await start();
    const reason = await waitUntil("the reason", async () => {
      const answer = await tiny.probe("/readyz");
      return answer !== undefined && /migrations make it/.test(answer) && answer;
    });
    expect(reason).toMatch(/^503 not ready: it waits to start: (?:the role of|schema) tiny/);
    expect(await tiny.probe("/livez")).toBe("200 ok");
    await migrateTiny();
    await waitReady(tiny);
    expect(tiny.linesWith('"addressWaitMs":1500')).toHaveLength(1);
    const waits = tiny.linesWith('"the start waits"');
    expect(new Set(waits.map((line) => line.replace(/.*"reason":/, ""))).size).toBe(waits.length);
    expect(await tiny.stop()).toBe(0);
  });

  test("whose Kafka, Redis and Postgres are away lives on, and is ready again by itself", async () => {
    await migrateTiny();
    const url = new URL(database.urlOf(schema));
    const proxy = await openTcpProxy(url);
    url.port = String(proxy.port);
    cleanUps.push(() => proxy.kill());
    await proxy.kill();
    const tiny = await start({ DATABASE_URL: url.href });
    const life = watchLife(tiny);
    await waitUntil("it waits for its database", async () =>
      /database cannot be reached/.test((await tiny.probe("/readyz")) ?? ""),
    );
    await proxy.pass();
    await waitReady(tiny, "it is ready, without Kafka and Redis");
    await proxy.kill();
    await waitUntil("it is not ready", async () => !(await isReady(tiny)()));
    expect(await tiny.probe("/readyz")).toBe("503 not ready: tiny cannot reach what it needs");
    await proxy.pass();
    await waitReady(tiny, "it is ready again");
    expect(life.looks()).toBeGreaterThan(5);
    expect(life.failures).toEqual([]);
    expect(tiny.isRunning()).toBe(true);
    expect(await tiny.stop()).toBe(0);
  });

  test("that is stopped while it waits ends at once with 0", async () => {
    const tiny = await start({ DATABASE_URL: `postgres://tiny:test@${away}/tiny` });
    expect(await tiny.stop()).toBe(0);
  });

  test("tells its service what its variables say, each in its place, and counts its own resources", async () => {
    await migrateTiny();
    const tiny = await start({
      BASE_URL: "https://pay.example.com",
      CHECKOUT_URL: "https://checkout.example.com",
      RATE_LIMIT_PER_KEY: "1:20",
      RATE_LIMIT_PER_IP: "3:40",
      TRUSTED_PROXIES: "10.0.0.0/8,192.0.2.1",
    });
    await waitReady(tiny);
    const [line = "{}"] = tiny.linesWith('"msg":"told"');
    expect(JSON.parse(line)).toMatchObject({
      baseUrl: "https://pay.example.com",
      checkoutUrl: "https://checkout.example.com",
      limits: {
        perKey: { tokensPerSecond: 1, burst: 20 },
        perAddress: { tokensPerSecond: 3, burst: 40 },
      },
      trustedProxies: ["10.0.0.0/8", "192.0.2.1"],
    });
    expect(await tiny.probe("/metrics")).toMatch(/^process_resident_memory_bytes\{/m);
  });

  test("that meets a fault which nobody catches says so and ends with 1", async () => {
    await migrateTiny();
    const tiny = await start();
    await waitReady(tiny);
    process.kill(tiny.pid, "SIGUSR2");
    await waitUntil("it has ended", () => !tiny.isRunning());
    expect(await tiny.stop()).toBe(1);
    expect(tiny.linesWith("nobody catches this")).toHaveLength(1);
    expect(JSON.parse(tiny.linesWith("nobody catches this")[0] ?? "{}")).toMatchObject({
      level: "fatal",
    });
  });

  test("that is frozen answers no probe, and does not end for it once it goes on", async () => {
    await migrateTiny();
    const tiny = await start({ KAFKA_BROKERS: brokers.join(",") });
    await waitReady(tiny);
    process.kill(tiny.pid, "SIGSTOP");
    cleanUps.push(() => process.kill(tiny.pid, "SIGCONT"));
    expect(await tiny.probe("/livez", provokedTimeoutMs(1_000))).toBeUndefined();
    process.kill(tiny.pid, "SIGCONT");
    expect(await tiny.probe("/livez")).toBe("200 ok");
    expect(await tiny.probe("/readyz")).toBe("200 ready");
  });

  test("under load, told to stop, loses no request, no event and no partition, though balancers hear late (rule KEEP-8)", async () => {
    await migrateTiny();
    const prefix = `tiny-${randomBytes(6).toString("hex")}.`;
    const topics = prefixTopics(topicSettings, prefix);
    await ensureTopics({ brokers, clientId: "test", log, replicationFactor: 1, topics });
    const environment = {
      KAFKA_BROKERS: brokers.join(","),
      KAFKA_TOPIC_PREFIX: prefix,
      REDIS_URL: redisUrl,
      DRAIN_DELAY_SECONDS: String(drainDelayMs / 1_000),
    };
    const leaving = await start(environment);
    const staying = await start(environment);
    await waitUntil("both are ready", async () => (await isReady(leaving)()) && isReady(staying)());
    const load = startLoad([leaving, staying]);
    await waitUntil(
      "load on both",
      () => load.answered(leaving) > 50 && load.answered(staying) > 50,
    );
    expect(await leaving.stop()).toBe(0);
    await waitUntil("load on the other alone", () => load.keysSince() > 100);
    const { failures, keys } = await load.end();
    expect(failures).toEqual([]);
    // A member that had not left its group would keep its partitions for the session's 15 s.
    await waitUntil("every event is heard", () => {
      const heard = [leaving, staying].flatMap((tiny) => tiny.linesWith('"msg":"heard"')).join();
      return keys.every((key) => heard.includes(key));
    });
  });
});

const drainDelayMs = 4_000;
const clientsPerProcess = 2;
const oneConnection = { keepAlive: true, maxSockets: 1 };
const requestsPerConnection = 10;
const balancerLooksEveryMs = 100;
/** As on a busy node: later than the drain delay, and so much before its end that a busy machine may be late too. */
const balancerLateMs = drainDelayMs * 1.5;

/**
 * Clients behind a balancer as Kubernetes has it: a new connection goes to a process that was ready some
 * seconds ago, and stays there for some requests or until an answer ends it. A request that fails is not
 * tried again.
 */
const startLoad = (processes: readonly Tiny[]) => {
  const failures: string[] = [];
  const keys: string[] = [];
  const answers = new Map<Tiny, number>();
  let ready = [...processes];
  const ending = new AbortController();
  let keysAtChange = 0;
  const readyAt = new Map<Tiny, number>();
  const balancing = setInterval(async () => {
    const isIn = await Promise.all(processes.map((tiny) => isReady(tiny)()));
    const nowMs = performance.now();
    processes.forEach((tiny, at) => isIn[at] && readyAt.set(tiny, nowMs));
    const isKnown = (tiny: Tiny) => nowMs - (readyAt.get(tiny) ?? nowMs) < balancerLateMs;
    ready = processes.filter(isKnown);
    if (ready.length === processes.length) keysAtChange = keys.length;
  }, balancerLooksEveryMs);
  const client = async (turn: number): Promise<void> => {
    let agent = new Agent(oneConnection);
    let tiny: Tiny | undefined;
    for (let sent = turn; !ending.signal.aborted; sent += 1) {
      if (tiny === undefined || sent % requestsPerConnection === 0) {
        agent.destroy();
        agent = new Agent(oneConnection);
        tiny = ready[Math.floor(sent / requestsPerConnection) % ready.length];
      }
      if (tiny === undefined) throw new Error("nobody is ready");
      try {
        const { key, isLast } = await send(tiny.port, agent);
        keys.push(key);
        answers.set(tiny, (answers.get(tiny) ?? 0) + 1);
        if (isLast) tiny = undefined;
      } catch (error) {
        failures.push(String(error));
        tiny = undefined;
      }
    }
    agent.destroy();
  };
  const clients = Array.from({ length: clientsPerProcess * processes.length }, (_, at) =>
    client(at),
  );
  const end = async () => {
    ending.abort();
    await Promise.all(clients);
    clearInterval(balancing);
    return { failures, keys };
  };
  cleanUps.push(end);
  return {
    end,
    answered: (tiny: Tiny) => answers.get(tiny) ?? 0,
    /** Answers since the last look at which all were ready. */
    keysSince: () => keys.length - keysAtChange,
  };
};

type Sent = { key: string; isLast: boolean };

const send = (port: number, agent: Agent): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, agent, method: "POST" }, (res) => {
      let text = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => (text += chunk));
      res.on("error", reject);
      res.on("end", () => {
        const isLast = res.headers.connection === "close";
        if (res.statusCode === 200) resolve({ key: text, isLast });
        else reject(new Error(`answered ${res.statusCode}`));
      });
    });
    sent.on("error", reject);
    sent.end("x".repeat(2_000));
  });
