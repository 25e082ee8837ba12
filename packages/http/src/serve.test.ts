import { afterEach, describe, expect, test } from "@jest/globals";
import { Agent } from "node:http";
import { Gauge } from "prom-client";
import * as z from "zod";
import { createApiError } from "@payment-links/contracts";
import {
  type Metrics,
  addProcessMetrics,
  createFakeClock,
  createStopList,
  createLog,
  createMetrics,
} from "@payment-links/runtime";
import type { InternalRoute } from "./internal-app.ts";
import { readJsonBody, parsePathParameter } from "./parse-request.ts";
import {
  type ServeConfig,
  type Service,
  startInternalListener,
  startListeners,
  serveConfig,
} from "./serve.ts";
import { sendRequest, sendRaw, getErrorCodes } from "./testing/client.ts";

const logLines: string[] = [];
const log = createLog(
  { service: "test", level: "debug" },
  { write: (line) => void logLines.push(line) },
);

const internalRoutes: InternalRoute[] = [
  {
    method: "get",
    path: "/internal/question",
    isForServices: true,
    handle: (_req, res) => void res.json({ ok: true }),
  },
  { method: "get", path: "/internal/things", handle: (_req, res) => void res.json({ ok: true }) },
  {
    method: "post",
    path: "/internal/things",
    handle: async (req, res) => void res.json(await readJsonBody(req, z.object({}))),
  },
  {
    method: "get",
    path: "/internal/refused",
    handle: () => Promise.reject(createApiError("HANDLE_TAKEN")),
  },
  {
    method: "get",
    path: "/internal/named/:name",
    handle: (req, res) => void res.json({ name: parsePathParameter(req, "name") }),
  },
  {
    method: "get",
    path: "/internal/broken",
    handle: () => Promise.reject(new Error("password hunter2")),
  },
];

const createTestService = (overrides: Partial<Service> = {}): Service => {
  const metrics = overrides.metrics ?? createMetrics(overrides.name ?? "links-api");
  const gauge = new Gauge({ name: "payment_links_up", help: "Up", registers: [metrics] });
  gauge.set(1);
  return {
    name: "links-api",
    metrics,
    app: (_req, res) => void res.end("public"),
    publicRoutes: [],
    internalRoutes,
    isReady: () => Promise.resolve(true),
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    ...overrides,
  };
};

let stopAll = async () => {};
afterEach(() => stopAll());

/** Creates a stop list that runs at the end of the test, and the clock that it uses. */
const createTestStopList = () => {
  const stopList = createStopList();
  const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
  stopAll = async () => {
    const clockInterval = setInterval(() => clock.advance(1_000), 1);
    await stopList.stopAll(log);
    clearInterval(clockInterval);
  };
  return { stopList, clock };
};

const startTestProcess = async (
  environment: Record<string, string> = {},
  services: Service[] = [createTestService()],
  processMetrics: Metrics[] = [],
  trustedProxies: string[] = [],
) => {
  logLines.length = 0;
  const { clock, stopList } = createTestStopList();
  const config = serveConfig.parse({ PORT: "0", INTERNAL_PORT: "0", ...environment });
  const app: Service["app"] = (_req, res) => void res.end("public");
  const ports = await startListeners({
    config,
    app,
    services,
    processMetrics,
    trustedProxies,
    stopList,
    clock,
    log,
  });
  return { ...ports, stopList, clock };
};

const createPublicOptions = () => ({ app: createTestService().app });

const startTestInternalListener = async () => {
  logLines.length = 0;
  const { clock, stopList } = createTestStopList();
  const config = serveConfig.parse({ PORT: "0", INTERNAL_PORT: "0" });
  const options = { config, serviceNames: ["links-api"], trustedProxies: [], stopList, clock, log };
  const internalListener = await startInternalListener(options);
  return { stopList, internalListener };
};

const operatorToken = "a-token-of-16-characters";
const nextOperatorToken = "another-one-of-them";
const serviceToken = "that-of-the-services";
const tokens = {
  OPERATOR_TOKEN: `${operatorToken}, ${nextOperatorToken}`,
  INTERNAL_TOKEN: serviceToken,
};

describe("the two listeners of a process (rule OPS-2)", () => {
  test("the public one serves no internal path, and the internal one no public path", async () => {
    const { port, internalPort } = await startTestProcess();
    expect((await sendRequest({ port, path: "/internal/things" })).text).toBe("public");
    const response = await sendRequest({ port: internalPort, path: "/v1/payment-link" });
    expect([response.status, getErrorCodes(response)]).toEqual([404, "NOT_FOUND"]);
  });

  test("/livez, /readyz and /metrics respond to scrapers and kubelets, which use an IP address as host", async () => {
    const services = ["links-api", "auth-keys"].map((name) => createTestService({ name }));
    const processRegistry = createMetrics("payment-links");
    addProcessMetrics(processRegistry);
    const { internalPort } = await startTestProcess(tokens, services, [processRegistry]);
    const headers = { host: "10.1.2.3:8081" };
    const sendGet = (path: string) => sendRequest({ port: internalPort, path, headers });
    expect((await sendGet("/livez")).text).toBe("ok\n");
    expect((await sendGet("/readyz")).text).toBe("ready\n");
    const metrics = await sendGet("/metrics");
    expect(metrics.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(metrics.text).toContain('payment_links_up{service="links-api"} 1');
    expect(metrics.text).toContain('payment_links_up{service="auth-keys"} 1');
    expect(metrics.text).toContain('process_start_time_seconds{service="payment-links"}');
    expect(metrics.text.match(/# TYPE payment_links_up /g)).toHaveLength(1);
  });
});

const sendProbe = async (port: number, path: string): Promise<string> => {
  const { status, text } = await sendRequest({ port, path });
  return `${status} ${text}`;
};

describe("/livez", () => {
  test("fails with the reason while only a new process would help, and recovers afterwards", async () => {
    const { stopList, internalListener } = await startTestInternalListener();
    let reason: string | undefined;
    await internalListener.startPublicListener({
      ...createPublicOptions(),
      services: [createTestService()],
      getStallReason: () => reason,
    });
    expect(await sendProbe(internalListener.port, "/livez")).toBe("200 ok\n");
    reason = "a consumer hangs";
    expect(await sendProbe(internalListener.port, "/livez")).toBe(
      "503 stalled: a consumer hangs\n",
    );
    reason = undefined;
    expect(await sendProbe(internalListener.port, "/livez")).toBe("200 ok\n");
    await stopList.stopAll(log);
  });
});

describe("/readyz", () => {
  test.each([
    ["one service is not ready", () => Promise.resolve(false), "is not ready"],
    [
      "a check fails",
      () => Promise.reject(new Error("the database is unavailable")),
      "cannot reach a dependency",
    ],
    ["a check never ends", () => new Promise<boolean>(() => {}), "cannot reach a dependency"],
  ])("reports that %s, while /livez stays unchanged", async (_name, isReady, reason) => {
    const { internalPort } = await startTestProcess({}, [
      createTestService(),
      createTestService({ name: "other", isReady }),
    ]);
    expect(await sendProbe(internalPort, "/readyz")).toBe(`503 not ready: other ${reason}\n`);
    expect(await sendProbe(internalPort, "/livez")).toBe("200 ok\n");
  });

  test("logs changes, not every probe", async () => {
    let isDatabaseDown = true;
    const isReady = () =>
      isDatabaseDown
        ? Promise.reject(new Error("the database is unavailable"))
        : Promise.resolve(true);
    const { internalPort } = await startTestProcess({}, [createTestService({ isReady })]);
    const getReadinessLogLines = () =>
      logLines.filter((line) => /"msg":"(?:not ready|ready again)"/.test(line));
    for (let probes = 0; probes < 3; probes += 1) await sendProbe(internalPort, "/readyz");
    expect(getReadinessLogLines()).toHaveLength(1);
    expect(getReadinessLogLines().join("")).toContain("the database is unavailable");
    isDatabaseDown = false;
    for (let probes = 0; probes < 3; probes += 1) await sendProbe(internalPort, "/readyz");
    expect(getReadinessLogLines()).toHaveLength(2);
  });

  test("reports what a starting process waits for, and nothing is served yet", async () => {
    const { internalListener, stopList } = await startTestInternalListener();
    internalListener.setStartupWaitReason("its schema");
    internalListener.setStartupWaitReason("its schema");
    expect(await sendProbe(internalListener.port, "/readyz")).toBe(
      "503 not ready: waiting to start: its schema\n",
    );
    expect(await sendProbe(internalListener.port, "/livez")).toBe("200 ok\n");
    expect((await sendRequest({ port: internalListener.port, path: "/metrics" })).status).toBe(200);
    expect(
      (await sendRequest({ port: internalListener.port, path: "/internal/things" })).status,
    ).toBe(404);
    expect(logLines.filter((line) => line.includes('"waiting to start"'))).toHaveLength(1);
    await internalListener.startPublicListener({
      ...createPublicOptions(),
      services: [createTestService()],
    });
    expect(await sendProbe(internalListener.port, "/readyz")).toBe("200 ready\n");
    expect(
      (await sendRequest({ port: internalListener.port, path: "/internal/things" })).status,
    ).toBe(200);
    await stopList.stopAll(log);
  });

  test("a process that is stopped while it starts frees its internal port", async () => {
    const { internalListener, stopList } = await startTestInternalListener();
    await stopList.stopAll(log);
    await expect(sendProbe(internalListener.port, "/livez")).rejects.toThrow("ECONNREFUSED");
  });

  test("is not ready while draining, and public calls are still served with Connection: close", async () => {
    const { port, internalPort, stopList, clock } = await startTestProcess({
      DRAIN_DELAY_SECONDS: "8",
    });
    const headers = { connection: "keep-alive" };
    expect((await sendRequest({ port, headers })).headers.connection).toBe("keep-alive");
    const stopping = stopList.stopAll(log);
    const readyResponse = await sendRequest({ port: internalPort, path: "/readyz", headers });
    expect([readyResponse.status, readyResponse.text]).toEqual([503, "not ready: draining\n"]);
    expect(readyResponse.headers.connection).toBe("close");
    const response = await sendRequest({ port, headers });
    expect([response.text, response.headers.connection]).toEqual(["public", "close"]);
    clock.advance(8_000);
    await stopping;
    await expect(sendRequest({ port })).rejects.toThrow("ECONNREFUSED");
    await expect(sendRequest({ port: internalPort })).rejects.toThrow("ECONNREFUSED");
  });
});

describe("a stop that load balancers notice late", () => {
  const startStopping = async ({ quietMs = 0 } = {}) => {
    const started = await startTestProcess({ ...tokens, DRAIN_DELAY_SECONDS: "8" });
    started.clock.advance(quietMs);
    let isStopped = false;
    const stopping = started.stopList.stopAll(log).then(() => (isStopped = true));
    const { port, internalPort } = started;
    const authorization = `Bearer ${serviceToken}`;
    return {
      ...started,
      stopping,
      isStopped: () => isStopped,
      /**
       * Uses a new connection per call, like clients that a load balancer still routes to this
       * process.
       */
      callPublic: async () => (await sendRequest({ port })).text,
      callInternal: async (path: string) =>
        (await sendRequest({ port: internalPort, path, headers: { authorization } })).status,
    };
  };

  const expectStopAfterDelay = async ({
    callInternal,
    callPublic,
    clock,
    isStopped,
    stopping,
  }: Awaited<ReturnType<typeof startStopping>>) => {
    clock.advance(7_999);
    expect(await callInternal("/readyz")).toBe(503);
    expect(isStopped()).toBe(false);
    clock.advance(1);
    await stopping;
    await expect(callPublic()).rejects.toThrow("ECONNREFUSED");
  };

  test("accepts new connections until no call has arrived for the drain delay", async () => {
    const stoppingProcess = await startStopping();
    const { callPublic, clock } = stoppingProcess;
    clock.advance(5_000);
    expect(await callPublic()).toBe("public");
    await expectStopAfterDelay(stoppingProcess);
  });

  test("waits for the drain delay even after a long time without calls", async () => {
    await expectStopAfterDelay(await startStopping({ quietMs: 3_600_000 }));
  });

  test("ends after twice the drain delay, even if calls still arrive", async () => {
    const { clock, stopping, callPublic } = await startStopping();
    for (const _ of [1, 2, 3]) {
      clock.advance(5_000);
      expect(await callPublic()).toBe("public");
    }
    clock.advance(1_000);
    await stopping;
    await expect(callPublic()).rejects.toThrow("ECONNREFUSED");
  });

  test("waits for calls from services on the internal port", async () => {
    const { clock, stopping, callInternal, callPublic } = await startStopping();
    clock.advance(5_000);
    expect(await callInternal("/internal/question")).toBe(200);
    clock.advance(7_999);
    expect(await callInternal("/internal/question")).toBe(200);
    expect(await callPublic()).toBe("public");
    clock.advance(8_000);
    await stopping;
    await expect(callInternal("/internal/question")).rejects.toThrow("ECONNREFUSED");
  });

  test("does not wait for probes and scrapes", async () => {
    const { clock, stopping, callInternal, callPublic } = await startStopping();
    clock.advance(7_000);
    const paths = ["/livez", "/readyz", "/metrics"];
    expect(await Promise.all(paths.map(callInternal))).toEqual([200, 503, 200]);
    clock.advance(1_000);
    await stopping;
    await expect(callPublic()).rejects.toThrow("ECONNREFUSED");
  });
});

describe("a service with long-lived responses", () => {
  test("is drained when the stop begins, so that they end before the drain delay is over", async () => {
    let isDrained = false;
    const drainableService = createTestService({ drain: () => void (isDrained = true) });
    const { port, stopList, clock } = await startTestProcess({ DRAIN_DELAY_SECONDS: "8" }, [
      drainableService,
    ]);
    const stopping = stopList.stopAll(log);
    expect((await sendRequest({ port })).text).toBe("public");
    expect(isDrained).toBe(true);
    clock.advance(8_000);
    await stopping;
  });
});

describe.each(["/livez", "/readyz", "/metrics"])("%s (rule OPS-11)", (path) => {
  test.each([
    ["with a pod's IP address as host", { host: "10.1.2.3:8081" }, 200],
    ["with an IP address without a port", { host: "10.1.2.3" }, 200],
    ["with a pod's IPv6 address as host", { host: "[fd00::7]:8081" }, 200],
    ["with localhost as host", { host: "localhost:8081" }, 200],
    ["with the service's name as host", { host: "links-api:8081" }, 200],
    ["with a configured name as host", { host: "links.internal:8081" }, 200],
    ["with a name that was rebound to this address", { host: "evil.example:8081" }, 403],
    ["with a name that looks like an IP address", { host: "10.1.2.3.evil.example" }, 403],
    ["with a name that ends in an IP address", { host: "evil.10.1.2.3" }, 403],
    ["with a name that begins like ours", { host: "localhost.evil.example" }, 403],
    ["with a name in brackets", { host: "[evil.example]:8081" }, 403],
    ["from a page", { host: "10.1.2.3:8081", origin: "http://10.1.2.3:8081" }, 403],
    ["from a sandboxed page", { host: "10.1.2.3:8081", origin: "null" }, 403],
    ["from a page of the same origin", { "sec-fetch-site": "same-origin" }, 403],
    ["from a page of another site", { "sec-fetch-site": "cross-site" }, 403],
  ])("called %s", async (_name, headers, status) => {
    const { internalPort } = await startTestProcess({ INTERNAL_HOSTNAMES: "Links.internal" });
    const response = await sendRequest({ port: internalPort, path, headers });
    expect(response.status).toBe(status);
    if (status === 403) expect(getErrorCodes(response)).toBe("FORBIDDEN");
  });

  test("responds to a load balancer that sends HTTP/1.0 without a host", async () => {
    const { internalPort } = await startTestProcess();
    expect(await sendRaw(internalPort, `GET ${path} HTTP/1.0\r\n\r\n`)).toContain("200 OK");
  });

  test("responds to the service's name while the service waits to start", async () => {
    const { internalListener, stopList } = await startTestInternalListener();
    const headers = { host: "links-api:8081" };
    const { status } = await sendRequest({ port: internalListener.port, path, headers });
    expect(status).toBe(path === "/readyz" ? 503 : 200);
    await stopList.stopAll(log);
  });
});

describe("an internal call (rule OPS-2)", () => {
  test.each([
    ["with a loopback address as host", {}, 200],
    ["with localhost as host", { host: "localhost:8081" }, 200],
    ["with localhost without a port", { host: "LOCALHOST" }, 200],
    ["with an IPv6 address as host", { host: "[::1]:8081" }, 200],
    ["with an IPv6 address without a port", { host: "[::1]" }, 200],
    ["with the service's name as host", { host: "links-api:8081" }, 200],
    ["with a configured name as host", { host: "links.internal:8081" }, 200],
    ["with a name that was rebound to this address", { host: "evil.example" }, 403],
    ["with a name that begins like ours", { host: "localhost.evil.example" }, 403],
    ["with a name that ends like ours", { host: "evil-localhost" }, 403],
    ["with another address as host", { host: "127.0.0.2:8081" }, 403],
    ["with an IPv6 address without brackets", { host: "::1" }, 403],
    ["from a page", { origin: "http://localhost:8081" }, 403],
    ["from a sandboxed page", { origin: "null" }, 403],
    ["from a page of the same origin", { "sec-fetch-site": "same-origin" }, 403],
    ["entered in a browser by a person", { "sec-fetch-site": "none" }, 403],
  ])("%s", async (_name, headers, status) => {
    const { internalPort } = await startTestProcess({ INTERNAL_HOSTNAMES: "Links.internal" });
    const response = await sendRequest({ port: internalPort, path: "/internal/things", headers });
    expect(response.status).toBe(status);
    if (status === 403) expect(getErrorCodes(response)).toBe("FORBIDDEN");
  });

  test.each([
    ["/internal/things", {}, 200],
    ["/internal/things", { origin: "null" }, 403],
    ["/nowhere", {}, 404],
    ["/internal/%ff", {}, 404],
  ])(
    "to %s with %j has a response without type sniffing or caching",
    async (path, headers, status) => {
      const { internalPort } = await startTestProcess();
      const response = await sendRequest({ port: internalPort, path, headers });
      const { "cache-control": cacheControl, "x-content-type-options": contentTypeOptions } =
        response.headers;
      expect([response.status, cacheControl, contentTypeOptions]).toEqual([
        status,
        "no-store",
        "nosniff",
      ]);
    },
  );

  test("without a host, as HTTP/1.0 allows, is rejected", async () => {
    const { internalPort } = await startTestProcess();
    expect(await sendRaw(internalPort, "GET /internal/things HTTP/1.0\r\n\r\n")).toContain(
      '"code":"FORBIDDEN"',
    );
  });

  const wrongTokenCases: [string, string | undefined][] = [
    ["no token", undefined],
    ["an empty token", "Bearer "],
    ["a part of the token", `Bearer ${operatorToken.slice(0, -1)}`],
    ["a longer token", `Bearer ${operatorToken}x`],
    ["the token in upper case", `Bearer ${operatorToken.toUpperCase()}`],
    ["another scheme", `Basic ${operatorToken}`],
    ["the token without a scheme", operatorToken],
    ["both tokens, as configured", `Bearer ${operatorToken},${nextOperatorToken}`],
    ["the services' token", `Bearer ${serviceToken}`],
  ];
  test.each([
    ["the token", `Bearer ${operatorToken}`, 200],
    ["the next token", `Bearer ${nextOperatorToken}`, 200],
    ...wrongTokenCases.map(([name, authorization]) => [name, authorization, 401] as const),
  ])("to an operator route, given %s", async (_name, authorization, status) => {
    const { internalPort } = await startTestProcess(tokens);
    const headers = authorization === undefined ? {} : { authorization };
    const response = await sendRequest({ port: internalPort, path: "/internal/things", headers });
    expect(response.status).toBe(status);
    if (status === 401) expect(getErrorCodes(response)).toBe("UNAUTHENTICATED");
  });

  test.each([
    ["of the services", serviceToken, 200],
    ["of operators", operatorToken, 401],
  ])("to a service route, given the token %s", async (_name, sentToken, status) => {
    const { internalPort } = await startTestProcess(tokens);
    const headers = { authorization: `Bearer ${sentToken}` };
    const response = await sendRequest({ port: internalPort, path: "/internal/question", headers });
    expect(response.status).toBe(status);
  });

  test.each([
    ["INTERNAL_TOKEN", "/internal/question", "/internal/things"],
    ["OPERATOR_TOKEN", "/internal/things", "/internal/question"],
  ])(
    "if only %s is set, %s requires it and %s accepts no token",
    async (name, allowedPath, forbiddenPath) => {
      const { internalPort: port } = await startTestProcess({ [name]: operatorToken });
      const headers = { authorization: `Bearer ${operatorToken}` };
      expect((await sendRequest({ port, path: allowedPath, headers })).status).toBe(200);
      expect((await sendRequest({ port, path: allowedPath })).status).toBe(401);
      expect((await sendRequest({ port, path: forbiddenPath, headers })).status).toBe(401);
      expect((await sendRequest({ port, path: forbiddenPath })).status).toBe(401);
    },
  );

  test("parses a JSON body by the same rules as a public call", async () => {
    const { internalPort } = await startTestProcess();
    const sendPost = (body: string) =>
      sendRequest({
        port: internalPort,
        path: "/internal/things",
        headers: { "content-type": "application/json" },
        body,
      });
    expect((await sendPost("{}")).status).toBe(200);
    expect(getErrorCodes(await sendPost("{"))).toBe("json_invalid");
    expect(getErrorCodes(await sendPost("x".repeat(100_000)))).toBe("PAYLOAD_TOO_LARGE");
    expect(logLines.join("")).not.toContain('"level":"error"');
  });

  test.each([
    ["/internal/refused", 409, "HANDLE_TAKEN"],
    ["/internal/broken", 500, "INTERNAL_ERROR"],
    ["/internal/none", 404, "NOT_FOUND"],
    ["/internal/named/%", 404, "NOT_FOUND"],
    ["/internal/named/a%00b", 404, "NOT_FOUND"],
    ["/%ff", 404, "NOT_FOUND"],
  ])("to %s returns %i with the envelope", async (path, status, code) => {
    const { internalPort } = await startTestProcess();
    const response = await sendRequest({ port: internalPort, path });
    expect([response.status, getErrorCodes(response)]).toEqual([status, code]);
    expect(response.text).not.toContain("hunter2");
    expect(logLines.join("").includes('"level":"error"')).toBe(status === 500);
  });
});

describe("the connections of a process", () => {
  const connectIdle = async (port: number) => {
    const agent = new Agent({ keepAlive: true });
    await sendRequest({ port, agent });
    return agent;
  };
  const parseOpenCount = (text: string) =>
    Number(
      /^payment_links_connections\{listener="public",state="idle".*\} (\d+)$/m.exec(text)?.[1],
    );

  test("have metrics and a limit per address (rule OPS-10)", async () => {
    const { port, internalPort } = await startTestProcess({ CONNECTIONS_PER_IP_MAX: "2" });
    const agents: Agent[] = [];
    for (let count = 0; count < 3; count += 1) agents.push(await connectIdle(port));
    const { text } = await sendRequest({ port: internalPort, path: "/metrics" });
    for (const agent of agents) agent.destroy();
    expect(parseOpenCount(text)).toBe(2);
    expect(text).toMatch(/_ended_total\{listener="public",reason="evicted_idle".*\} 1$/m);
    expect(text).toMatch(/_ended_total\{listener="internal",reason="evicted_idle".*\} 0$/m);
  });

  test("of a trusted proxy have no limit per address (rule OPS-10)", async () => {
    const environment = { CONNECTIONS_PER_IP_MAX: "2" };
    const { port, internalPort } = await startTestProcess(
      environment,
      [createTestService()],
      [],
      ["127.0.0.0/8"],
    );
    const agents: Agent[] = [];
    for (let count = 0; count < 5; count += 1) agents.push(await connectIdle(port));
    const { text } = await sendRequest({ port: internalPort, path: "/metrics" });
    for (const agent of agents) agent.destroy();
    expect(parseOpenCount(text)).toBe(5);
  });
});

describe("the configuration of the ports (rule OPS-2)", () => {
  const listInvalidNames = (environment: Record<string, string>): string[] =>
    serveConfig.safeParse(environment).error?.issues.map((issue) => issue.path.join(".")) ?? [];

  test("has loopback addresses as defaults", () => {
    expect(serveConfig.parse({})).toEqual({
      HOST: "127.0.0.1",
      PORT: 8080,
      INTERNAL_HOST: "127.0.0.1",
      INTERNAL_PORT: 8081,
      INTERNAL_HOSTNAMES: [],
      DRAIN_DELAY_SECONDS: 0,
      CONNECTIONS_MAX: 2_500,
      CONNECTIONS_PER_IP_MAX: 256,
    } satisfies ServeConfig);
  });

  test.each([
    [{ INTERNAL_HOST: "0.0.0.0" }, ["INTERNAL_TOKEN", "OPERATOR_TOKEN"]],
    [{ INTERNAL_HOST: "::", OPERATOR_TOKEN: operatorToken }, ["INTERNAL_TOKEN"]],
    [{ INTERNAL_HOST: "10.1.2.3", INTERNAL_TOKEN: operatorToken }, ["OPERATOR_TOKEN"]],
    [{ INTERNAL_HOST: "0.0.0.0", ...tokens }, []],
    [{ ...tokens, INTERNAL_TOKEN: `${serviceToken},${nextOperatorToken}` }, ["OPERATOR_TOKEN"]],
    [{ INTERNAL_HOST: "::1" }, []],
    [{ INTERNAL_HOST: "localhost" }, []],
    [{ INTERNAL_TOKEN: "too short" }, ["INTERNAL_TOKEN"]],
    [{ OPERATOR_TOKEN: `${operatorToken},too short` }, ["OPERATOR_TOKEN"]],
    [{ OPERATOR_TOKEN: " , " }, ["OPERATOR_TOKEN"]],
    [{ PORT: "http" }, ["PORT"]],
    [{ DRAIN_DELAY_SECONDS: "61" }, ["DRAIN_DELAY_SECONDS"]],
    [{ CONNECTIONS_MAX: "0" }, ["CONNECTIONS_MAX"]],
    [{ CONNECTIONS_PER_IP_MAX: "many" }, ["CONNECTIONS_PER_IP_MAX"]],
  ])("%j is invalid in %j", (environment, expectedNames) => {
    expect(listInvalidNames(environment)).toEqual(expectedNames);
  });
});
