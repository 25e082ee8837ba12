import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { busMigrations, ensureTopics, prefixTopics } from "@payment-links/bus";
import { getTestBrokers } from "@payment-links/bus/testing";
import { topicSettings } from "@payment-links/contracts";
import { migrate } from "@payment-links/postgres";
import { type TestDatabase, createTestDatabase } from "@payment-links/postgres/testing";
import { claimRedisDatabase } from "@payment-links/rate-limit/testing/claim-redis-database";
import { createLog } from "@payment-links/runtime";
import { startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { waitUntil } from "@payment-links/runtime/testing";
import { type TinyProcess, startTinyProcess } from "./testing/start-tiny-process.ts";

const log = createLog({ service: "test", level: "silent" });
const brokers = getTestBrokers();
const redisUrl = await claimRedisDatabase();
const schema = "tiny";
/** A closed loopback port, which stands for an unavailable server. */
const unreachableAddress = "127.0.0.1:9";

let database: TestDatabase;
let startedProcesses: TinyProcess[] = [];
/** Cleans up after a test, even if the test failed halfway. */
const cleanUps: (() => unknown)[] = [];

beforeEach(async () => {
  database = await createTestDatabase([]);
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  await Promise.all(startedProcesses.map((startedProcess) => startedProcess.stop()));
  startedProcesses = [];
  await database.drop();
});

const migrateTiny = () =>
  migrate({
    adminUrl: database.adminUrl,
    role: { name: schema, password: "test" },
    schema,
    folders: [busMigrations],
  });

const startTestProcess = async (environment: Record<string, string> = {}): Promise<TinyProcess> => {
  const [port = 0, internalPort = 0] = await findFreePorts(2);
  const env = {
    DATABASE_URL: database.getRoleUrl(schema),
    KAFKA_BROKERS: unreachableAddress,
    REDIS_URL: `redis://${unreachableAddress}`,
    ...environment,
  };
  const tiny = await startTinyProcess(env, { port, internalPort });
  startedProcesses.push(tiny);
  return tiny;
};

const isReady = (tiny: TinyProcess) => async () => (await tiny.probe("/readyz")) === "200 ready";

const waitUntilReady = async (tiny: TinyProcess, description = "the process is ready") => {
  let response: string | undefined;
  await waitUntil(
    () =>
      `${description}; last response: ${response}; last log lines:\n${tiny.findLogLines("").slice(-5).join("\n")}`,
    async () => {
      response = await tiny.probe("/readyz");
      return response === "200 ready";
    },
  );
};

/** Probes a process's liveness every 100 ms, and counts the probes and the failures. */
const monitorLiveness = (tiny: TinyProcess) => {
  const failures: string[] = [];
  let probeCount = 0;
  const timer = setInterval(async () => {
    const response = await tiny.probe("/livez");
    probeCount += 1;
    if (response !== "200 ok") failures.push(String(response));
  }, 100);
  cleanUps.push(() => clearInterval(timer));
  return { failures, getProbeCount: () => probeCount };
};

describe("a process", () => {
  test("waits alive but not ready while its schema is missing, and becomes ready once it exists", async () => {
    const tiny = await startTestProcess();
    const reason = await waitUntil("the reason is reported", async () => {
      const response = await tiny.probe("/readyz");
      return response !== undefined && /migrations create it/.test(response) && response;
    });
    expect(reason).toMatch(/^503 not ready: waiting to start: (?:the role of|schema) tiny/);
    expect(await tiny.probe("/livez")).toBe("200 ok");
    await migrateTiny();
    await waitUntilReady(tiny);
    expect(tiny.findLogLines('"addressWaitMs":1500')).toHaveLength(1);
    const waitLines = tiny.findLogLines('"waiting to start"');
    expect(new Set(waitLines.map((line) => line.replace(/.*"reason":/, ""))).size).toBe(
      waitLines.length,
    );
    expect(await tiny.stop()).toBe(0);
  });

  test("stays alive while Kafka, Redis and Postgres are unavailable, and becomes ready again on its own", async () => {
    await migrateTiny();
    const url = new URL(database.getRoleUrl(schema));
    const proxy = await startTcpProxy(url);
    url.port = String(proxy.port);
    cleanUps.push(() => proxy.kill());
    await proxy.kill();
    const tiny = await startTestProcess({ DATABASE_URL: url.href });
    const liveness = monitorLiveness(tiny);
    await waitUntil("the process waits for its database", async () =>
      /database cannot be reached/.test((await tiny.probe("/readyz")) ?? ""),
    );
    await proxy.forward();
    await waitUntilReady(tiny, "the process is ready without Kafka and Redis");
    await proxy.kill();
    await waitUntil("the process is not ready", async () => !(await isReady(tiny)()));
    expect(await tiny.probe("/readyz")).toBe("503 not ready: tiny cannot reach a dependency");
    await proxy.forward();
    await waitUntilReady(tiny, "the process is ready again");
    expect(liveness.getProbeCount()).toBeGreaterThan(5);
    expect(liveness.failures).toEqual([]);
    expect(tiny.isRunning()).toBe(true);
    expect(await tiny.stop()).toBe(0);
  });

  test("exits immediately with code 0 when it is stopped during the wait", async () => {
    const tiny = await startTestProcess({
      DATABASE_URL: `postgres://tiny:test@${unreachableAddress}/tiny`,
    });
    expect(await tiny.stop()).toBe(0);
  });

  test("passes its variables to the service and reports its own resource metrics", async () => {
    await migrateTiny();
    const tiny = await startTestProcess({
      BASE_URL: "https://pay.example.com",
      CHECKOUT_URL: "https://checkout.example.com",
      RATE_LIMIT_PER_KEY: "1:20",
      RATE_LIMIT_PER_IP: "3:40",
      TRUSTED_PROXIES: "10.0.0.0/8,192.0.2.1",
    });
    await waitUntilReady(tiny);
    const [line = "{}"] = tiny.findLogLines('"msg":"settings"');
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

  test("logs an uncaught error and exits with code 1", async () => {
    await migrateTiny();
    const tiny = await startTestProcess();
    await waitUntilReady(tiny);
    process.kill(tiny.pid, "SIGUSR2");
    await waitUntil("the process has exited", () => !tiny.isRunning());
    expect(await tiny.stop()).toBe(1);
    expect(tiny.findLogLines("this error is not caught")).toHaveLength(1);
    expect(JSON.parse(tiny.findLogLines("this error is not caught")[0] ?? "{}")).toMatchObject({
      level: "fatal",
    });
  });

  test("answers no probe while it is frozen, and continues after that", async () => {
    await migrateTiny();
    const tiny = await startTestProcess({ KAFKA_BROKERS: brokers.join(",") });
    await waitUntilReady(tiny);
    process.kill(tiny.pid, "SIGSTOP");
    cleanUps.push(() => process.kill(tiny.pid, "SIGCONT"));
    expect(await tiny.probe("/livez", provokedTimeoutMs(1_000))).toBeUndefined();
    process.kill(tiny.pid, "SIGCONT");
    expect(await tiny.probe("/livez")).toBe("200 ok");
    expect(await tiny.probe("/readyz")).toBe("200 ready");
  });

  test("loses no request, event or partition when it is stopped under load and balancers react late (rule KEEP-8)", async () => {
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
    const stoppingProcess = await startTestProcess(environment);
    const remainingProcess = await startTestProcess(environment);
    await waitUntil(
      "both processes are ready",
      async () => (await isReady(stoppingProcess)()) && isReady(remainingProcess)(),
    );
    const load = startLoad([stoppingProcess, remainingProcess]);
    await waitUntil(
      "both processes have responded under load",
      () =>
        load.getResponseCount(stoppingProcess) > 50 && load.getResponseCount(remainingProcess) > 50,
    );
    expect(await stoppingProcess.stop()).toBe(0);
    await waitUntil(
      "only the other process is under load",
      () => load.countKeysSinceChange() > 100,
    );
    const { failures, keys } = await load.stop();
    expect(failures).toEqual([]);
    // If a member did not leave its group, it would keep its partitions for the session timeout of
    // 15 s.
    await waitUntil("every event is received", () => {
      const handledLog = [stoppingProcess, remainingProcess]
        .flatMap((tiny) => tiny.findLogLines('"msg":"event received"'))
        .join();
      return keys.every((key) => handledLog.includes(key));
    });
  });
});

const drainDelayMs = 4_000;
const clientsPerProcess = 2;
const agentOptions = { keepAlive: true, maxSockets: 1 };
const requestsPerConnection = 10;
const balancerPollMs = 100;
/**
 * This is longer than the drain delay, as on a busy node. It is shorter than the maximum of twice
 * the drain delay, so that a busy machine can add a delay of its own.
 */
const balancerLagMs = drainDelayMs * 1.5;

/**
 * Starts clients behind a simulated Kubernetes load balancer. A new connection goes to a process
 * that was ready within the last `balancerLagMs`. The connection is reused for a few requests, or
 * until a response closes it. Failed requests are not retried.
 */
const startLoad = (processes: readonly TinyProcess[]) => {
  const failures: string[] = [];
  const keys: string[] = [];
  const responseCounts = new Map<TinyProcess, number>();
  let readyProcesses = [...processes];
  const stopController = new AbortController();
  let keyCountAtChange = 0;
  const lastReadyAtMs = new Map<TinyProcess, number>();
  const balancerTimer = setInterval(async () => {
    const readiness = await Promise.all(processes.map((tiny) => isReady(tiny)()));
    const nowMs = performance.now();
    processes.forEach((tiny, index) => readiness[index] && lastReadyAtMs.set(tiny, nowMs));
    const isConsideredReady = (tiny: TinyProcess) =>
      nowMs - (lastReadyAtMs.get(tiny) ?? nowMs) < balancerLagMs;
    readyProcesses = processes.filter(isConsideredReady);
    if (readyProcesses.length === processes.length) keyCountAtChange = keys.length;
  }, balancerPollMs);
  const runClient = async (clientIndex: number): Promise<void> => {
    let agent = new Agent(agentOptions);
    let tiny: TinyProcess | undefined;
    for (let requestIndex = clientIndex; !stopController.signal.aborted; requestIndex += 1) {
      if (tiny === undefined || requestIndex % requestsPerConnection === 0) {
        agent.destroy();
        agent = new Agent(agentOptions);
        tiny =
          readyProcesses[Math.floor(requestIndex / requestsPerConnection) % readyProcesses.length];
      }
      if (tiny === undefined) throw new Error("no process is ready");
      try {
        const { key, isLastResponse } = await sendRequest(tiny.port, agent);
        keys.push(key);
        responseCounts.set(tiny, (responseCounts.get(tiny) ?? 0) + 1);
        if (isLastResponse) tiny = undefined;
      } catch (error) {
        failures.push(String(error));
        tiny = undefined;
      }
    }
    agent.destroy();
  };
  const clients = Array.from({ length: clientsPerProcess * processes.length }, (_, index) =>
    runClient(index),
  );
  const stop = async () => {
    stopController.abort();
    await Promise.all(clients);
    clearInterval(balancerTimer);
    return { failures, keys };
  };
  cleanUps.push(stop);
  return {
    stop,
    getResponseCount: (tiny: TinyProcess) => responseCounts.get(tiny) ?? 0,
    /** Returns the number of responses since all processes were last considered ready. */
    countKeysSinceChange: () => keys.length - keyCountAtChange,
  };
};

type RequestResult = { key: string; isLastResponse: boolean };

const sendRequest = (port: number, agent: Agent): Promise<RequestResult> =>
  new Promise((resolve, reject) => {
    const clientRequest = request({ host: "127.0.0.1", port, agent, method: "POST" }, (res) => {
      let responseText = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => (responseText += chunk));
      res.on("error", reject);
      res.on("end", () => {
        const isLastResponse = res.headers.connection === "close";
        if (res.statusCode === 200) resolve({ key: responseText, isLastResponse });
        else reject(new Error(`answered ${res.statusCode}`));
      });
    });
    clientRequest.on("error", reject);
    clientRequest.end("x".repeat(2_000));
  });
