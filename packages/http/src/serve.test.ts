import { afterEach, describe, expect, test } from "@jest/globals";
import { Agent } from "node:http";
import { Gauge } from "prom-client";
import * as z from "zod";
import { refuse } from "@payment-links/contracts";
import {
  type Metrics,
  addProcessMetrics,
  createHeldClock,
  createStopList,
  openLog,
  openMetrics,
} from "@payment-links/runtime";
import type { InternalRoute } from "./internal-app.ts";
import { readBody, readParam } from "./read-request.ts";
import { type ServeConfig, type Service, openInternalPort, serve, serveConfig } from "./serve.ts";
import { call, callRaw, codesOf } from "./testing/client.ts";

const logged: string[] = [];
const log = openLog(
  { service: "test", level: "debug" },
  { write: (line) => void logged.push(line) },
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
    handle: async (req, res) => void res.json(await readBody(req, z.object({}))),
  },
  {
    method: "get",
    path: "/internal/refused",
    handle: () => Promise.reject(refuse("HANDLE_TAKEN")),
  },
  {
    method: "get",
    path: "/internal/named/:name",
    handle: (req, res) => void res.json({ name: readParam(req, "name") }),
  },
  {
    method: "get",
    path: "/internal/broken",
    handle: () => Promise.reject(new Error("password hunter2")),
  },
];

const service = (more: Partial<Service> = {}): Service => {
  const metrics = more.metrics ?? openMetrics(more.name ?? "links-api");
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
    ...more,
  };
};

let stop = async () => {};
afterEach(() => stop());

/** A stop list that ends with its test, and the clock by which it waits. */
const openStopList = () => {
  const stopList = createStopList();
  const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
  stop = async () => {
    const ticking = setInterval(() => clock.advance(1_000), 1);
    await stopList.stopAll(log);
    clearInterval(ticking);
  };
  return { stopList, clock };
};

const start = async (
  environment: Record<string, string> = {},
  services: Service[] = [service()],
  processMetrics: Metrics[] = [],
  trustedProxies: string[] = [],
) => {
  logged.length = 0;
  const { clock, stopList } = openStopList();
  const config = serveConfig.parse({ PORT: "0", INTERNAL_PORT: "0", ...environment });
  const app: Service["app"] = (_req, res) => void res.end("public");
  const ports = await serve({
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

const publicFace = () => ({ app: service().app });

const openInternal = async () => {
  logged.length = 0;
  const { clock, stopList } = openStopList();
  const config = serveConfig.parse({ PORT: "0", INTERNAL_PORT: "0" });
  const options = { config, names: ["links-api"], trustedProxies: [], stopList, clock, log };
  const internal = await openInternalPort(options);
  return { stopList, internal };
};

const token = "a-token-of-16-characters";
const nextToken = "another-one-of-them";
const servicesToken = "that-of-the-services";
const tokens = { OPERATOR_TOKEN: `${token}, ${nextToken}`, INTERNAL_TOKEN: servicesToken };

describe("the two faces of a process (rule OPS-2)", () => {
  test("public calls reach no internal address, and internal ones no public address", async () => {
    const { port, internalPort } = await start();
    expect((await call({ port, path: "/internal/things" })).text).toBe("public");
    const answer = await call({ port: internalPort, path: "/v1/payment-link" });
    expect([answer.status, codesOf(answer)]).toEqual([404, "NOT_FOUND"]);
  });

  test("/livez, /readyz and /metrics answer scrapers and kubelets, which call by an IP address", async () => {
    const services = ["links-api", "auth-keys"].map((name) => service({ name }));
    const ofProcess = openMetrics("payment-links");
    addProcessMetrics(ofProcess);
    const { internalPort } = await start(tokens, services, [ofProcess]);
    const headers = { host: "10.1.2.3:8081" };
    const get = (path: string) => call({ port: internalPort, path, headers });
    expect((await get("/livez")).text).toBe("ok\n");
    expect((await get("/readyz")).text).toBe("ready\n");
    const metrics = await get("/metrics");
    expect(metrics.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(metrics.text).toContain('payment_links_up{service="links-api"} 1');
    expect(metrics.text).toContain('payment_links_up{service="auth-keys"} 1');
    expect(metrics.text).toContain('process_start_time_seconds{service="payment-links"}');
    expect(metrics.text.match(/# TYPE payment_links_up /g)).toHaveLength(1);
  });
});

const probe = async (port: number, path: string): Promise<string> => {
  const { status, text } = await call({ port, path });
  return `${status} ${text}`;
};

describe("/livez", () => {
  test("fails while only a new process would help, says why, and heals with it", async () => {
    const { stopList, internal } = await openInternal();
    let reason: string | undefined;
    await internal.open({ ...publicFace(), services: [service()], whyStalled: () => reason });
    expect(await probe(internal.port, "/livez")).toBe("200 ok\n");
    reason = "a consumer hangs";
    expect(await probe(internal.port, "/livez")).toBe("503 stalled: a consumer hangs\n");
    reason = undefined;
    expect(await probe(internal.port, "/livez")).toBe("200 ok\n");
    await stopList.stopAll(log);
  });
});

describe("/readyz", () => {
  test.each([
    ["one service is not ready", () => Promise.resolve(false), "is not ready"],
    [
      "a check fails",
      () => Promise.reject(new Error("the database is away")),
      "cannot reach what it needs",
    ],
    ["a check never ends", () => new Promise<boolean>(() => {}), "cannot reach what it needs"],
  ])("says so when %s, while /livez stays as it is", async (_name, isReady, reason) => {
    const { internalPort } = await start({}, [service(), service({ name: "other", isReady })]);
    expect(await probe(internalPort, "/readyz")).toBe(`503 not ready: other ${reason}\n`);
    expect(await probe(internalPort, "/livez")).toBe("200 ok\n");
  });

  test("is told to the log when it changes, not with every probe", async () => {
    let isAway = true;
    const isReady = () =>
      isAway ? Promise.reject(new Error("the database is away")) : Promise.resolve(true);
    const { internalPort } = await start({}, [service({ isReady })]);
    const lines = () => logged.filter((line) => /"msg":"(?:not ready|ready again)"/.test(line));
    for (let probes = 0; probes < 3; probes += 1) await probe(internalPort, "/readyz");
    expect(lines()).toHaveLength(1);
    expect(lines().join("")).toContain("the database is away");
    isAway = false;
    for (let probes = 0; probes < 3; probes += 1) await probe(internalPort, "/readyz");
    expect(lines()).toHaveLength(2);
  });

  test("while the process starts says what it waits for, and nobody is served yet", async () => {
    const { internal, stopList } = await openInternal();
    internal.waitFor("its schema");
    internal.waitFor("its schema");
    expect(await probe(internal.port, "/readyz")).toBe(
      "503 not ready: it waits to start: its schema\n",
    );
    expect(await probe(internal.port, "/livez")).toBe("200 ok\n");
    expect((await call({ port: internal.port, path: "/metrics" })).status).toBe(200);
    expect((await call({ port: internal.port, path: "/internal/things" })).status).toBe(404);
    expect(logged.filter((line) => line.includes('"the start waits"'))).toHaveLength(1);
    await internal.open({ ...publicFace(), services: [service()] });
    expect(await probe(internal.port, "/readyz")).toBe("200 ready\n");
    expect((await call({ port: internal.port, path: "/internal/things" })).status).toBe(200);
    await stopList.stopAll(log);
  });

  test("a process that is stopped while it starts frees its internal port", async () => {
    const { internal, stopList } = await openInternal();
    await stopList.stopAll(log);
    await expect(probe(internal.port, "/livez")).rejects.toThrow("ECONNREFUSED");
  });

  test("while draining says not ready, and public calls are still served and told to leave", async () => {
    const { port, internalPort, stopList, clock } = await start({ DRAIN_DELAY_SECONDS: "8" });
    const headers = { connection: "keep-alive" };
    expect((await call({ port, headers })).headers.connection).toBe("keep-alive");
    const stopping = stopList.stopAll(log);
    const told = await call({ port: internalPort, path: "/readyz", headers });
    expect([told.status, told.text]).toEqual([503, "not ready: it is draining\n"]);
    expect(told.headers.connection).toBe("close");
    const answer = await call({ port, headers });
    expect([answer.text, answer.headers.connection]).toEqual(["public", "close"]);
    clock.advance(8_000);
    await stopping;
    await expect(call({ port })).rejects.toThrow("ECONNREFUSED");
    await expect(call({ port: internalPort })).rejects.toThrow("ECONNREFUSED");
  });
});

describe("a stop of which balancers hear late", () => {
  const startStop = async ({ silentMs = 0 } = {}) => {
    const started = await start({ ...tokens, DRAIN_DELAY_SECONDS: "8" });
    started.clock.advance(silentMs);
    let isStopped = false;
    const stopping = started.stopList.stopAll(log).then(() => (isStopped = true));
    const { port, internalPort } = started;
    const authorization = `Bearer ${servicesToken}`;
    return {
      ...started,
      stopping,
      isStopped: () => isStopped,
      /** Each over a connection of its own, as the ones whom a balancer still sends. */
      callPublic: async () => (await call({ port })).text,
      callInternal: async (path: string) =>
        (await call({ port: internalPort, path, headers: { authorization } })).status,
    };
  };

  const expectStopAfterDelay = async ({
    callInternal,
    callPublic,
    clock,
    isStopped,
    stopping,
  }: Awaited<ReturnType<typeof startStop>>) => {
    clock.advance(7_999);
    expect(await callInternal("/readyz")).toBe(503);
    expect(isStopped()).toBe(false);
    clock.advance(1);
    await stopping;
    await expect(callPublic()).rejects.toThrow("ECONNREFUSED");
  };

  test("goes on taking new connections until no call has come for the drain delay", async () => {
    const it = await startStop();
    const { callPublic, clock } = it;
    clock.advance(5_000);
    expect(await callPublic()).toBe("public");
    await expectStopAfterDelay(it);
  });

  test("waits for that, too, where nobody has called for long", async () => {
    await expectStopAfterDelay(await startStop({ silentMs: 3_600_000 }));
  });

  test("ends after twice the drain delay, whoever still calls", async () => {
    const { clock, stopping, callPublic } = await startStop();
    for (const _ of [1, 2, 3]) {
      clock.advance(5_000);
      expect(await callPublic()).toBe("public");
    }
    clock.advance(1_000);
    await stopping;
    await expect(callPublic()).rejects.toThrow("ECONNREFUSED");
  });

  test("counts what services ask on the internal port", async () => {
    const { clock, stopping, callInternal, callPublic } = await startStop();
    clock.advance(5_000);
    expect(await callInternal("/internal/question")).toBe(200);
    clock.advance(7_999);
    expect(await callInternal("/internal/question")).toBe(200);
    expect(await callPublic()).toBe("public");
    clock.advance(8_000);
    await stopping;
    await expect(callInternal("/internal/question")).rejects.toThrow("ECONNREFUSED");
  });

  test("counts no probe and no scrape", async () => {
    const { clock, stopping, callInternal, callPublic } = await startStop();
    clock.advance(7_000);
    const paths = ["/livez", "/readyz", "/metrics"];
    expect(await Promise.all(paths.map(callInternal))).toEqual([200, 503, 200]);
    clock.advance(1_000);
    await stopping;
    await expect(callPublic()).rejects.toThrow("ECONNREFUSED");
  });
});

describe("a service that holds answers open", () => {
  test("is told when the stop begins, so that they end before the drain delay is over", async () => {
    let isDrained = false;
    const holding = service({ drain: () => void (isDrained = true) });
    const { port, stopList, clock } = await start({ DRAIN_DELAY_SECONDS: "8" }, [holding]);
    const stopping = stopList.stopAll(log);
    expect((await call({ port })).text).toBe("public");
    expect(isDrained).toBe(true);
    clock.advance(8_000);
    await stopping;
  });
});

describe.each(["/livez", "/readyz", "/metrics"])("%s (rule OPS-11)", (path) => {
  test.each([
    ["by the address of a pod", { host: "10.1.2.3:8081" }, 200],
    ["by an address without a port", { host: "10.1.2.3" }, 200],
    ["by the IPv6 address of a pod", { host: "[fd00::7]:8081" }, 200],
    ["by localhost", { host: "localhost:8081" }, 200],
    ["by the service's name", { host: "links-api:8081" }, 200],
    ["by a name that is configured", { host: "links.internal:8081" }, 200],
    ["by a name that was rebound to this address", { host: "evil.example:8081" }, 403],
    ["by a name that looks like an address", { host: "10.1.2.3.evil.example" }, 403],
    ["by a name that ends in an address", { host: "evil.10.1.2.3" }, 403],
    ["by a name that begins like ours", { host: "localhost.evil.example" }, 403],
    ["by a name in brackets", { host: "[evil.example]:8081" }, 403],
    ["from a page", { host: "10.1.2.3:8081", origin: "http://10.1.2.3:8081" }, 403],
    ["from a sandboxed page", { host: "10.1.2.3:8081", origin: "null" }, 403],
    ["from a page of the same origin", { "sec-fetch-site": "same-origin" }, 403],
    ["from a page of another site", { "sec-fetch-site": "cross-site" }, 403],
  ])("called %s", async (_name, headers, status) => {
    const { internalPort } = await start({ INTERNAL_HOSTNAMES: "Links.internal" });
    const answer = await call({ port: internalPort, path, headers });
    expect(answer.status).toBe(status);
    if (status === 403) expect(codesOf(answer)).toBe("FORBIDDEN");
  });

  test("answers a load balancer that sends HTTP/1.0 without a host", async () => {
    const { internalPort } = await start();
    expect(await callRaw(internalPort, `GET ${path} HTTP/1.0\r\n\r\n`)).toContain("200 OK");
  });

  test("answers by the service's name while the service waits to start", async () => {
    const { internal, stopList } = await openInternal();
    const headers = { host: "links-api:8081" };
    const { status } = await call({ port: internal.port, path, headers });
    expect(status).toBe(path === "/readyz" ? 503 : 200);
    await stopList.stopAll(log);
  });
});

describe("an internal call (rule OPS-2)", () => {
  test.each([
    ["by a loopback name", {}, 200],
    ["by localhost", { host: "localhost:8081" }, 200],
    ["by localhost without a port", { host: "LOCALHOST" }, 200],
    ["by an IPv6 address", { host: "[::1]:8081" }, 200],
    ["by an IPv6 address without a port", { host: "[::1]" }, 200],
    ["by the service's name", { host: "links-api:8081" }, 200],
    ["by a name that is configured", { host: "links.internal:8081" }, 200],
    ["by a name that was rebound to this address", { host: "evil.example" }, 403],
    ["by a name that begins like ours", { host: "localhost.evil.example" }, 403],
    ["by a name that ends like ours", { host: "evil-localhost" }, 403],
    ["by another address", { host: "127.0.0.2:8081" }, 403],
    ["by an IPv6 address without brackets", { host: "::1" }, 403],
    ["from a page", { origin: "http://localhost:8081" }, 403],
    ["from a sandboxed page", { origin: "null" }, 403],
    ["from a page of the same origin", { "sec-fetch-site": "same-origin" }, 403],
    ["typed in by a person", { "sec-fetch-site": "none" }, 403],
  ])("%s", async (_name, headers, status) => {
    const { internalPort } = await start({ INTERNAL_HOSTNAMES: "Links.internal" });
    const answer = await call({ port: internalPort, path: "/internal/things", headers });
    expect(answer.status).toBe(status);
    if (status === 403) expect(codesOf(answer)).toBe("FORBIDDEN");
  });

  test.each([
    ["/internal/things", {}, 200],
    ["/internal/things", { origin: "null" }, 403],
    ["/nowhere", {}, 404],
    ["/internal/%ff", {}, 404],
  ])(
    "to %s with %j: nobody guesses the answer's type or keeps it",
    async (path, headers, status) => {
      const { internalPort } = await start();
      const answer = await call({ port: internalPort, path, headers });
      const { "cache-control": keeping, "x-content-type-options": guessing } = answer.headers;
      expect([answer.status, keeping, guessing]).toEqual([status, "no-store", "nosniff"]);
    },
  );

  test("by no name, as HTTP/1.0 allows, is refused", async () => {
    const { internalPort } = await start();
    expect(await callRaw(internalPort, "GET /internal/things HTTP/1.0\r\n\r\n")).toContain(
      '"code":"FORBIDDEN"',
    );
  });

  const wrongTokens: [string, string | undefined][] = [
    ["no token", undefined],
    ["an empty one", "Bearer "],
    ["a part of it", `Bearer ${token.slice(0, -1)}`],
    ["more than it", `Bearer ${token}x`],
    ["another case of it", `Bearer ${token.toUpperCase()}`],
    ["another scheme", `Basic ${token}`],
    ["the bare token", token],
    ["both, as they are configured", `Bearer ${token},${nextToken}`],
    ["the token of the services", `Bearer ${servicesToken}`],
  ];
  test.each([
    ["the token", `Bearer ${token}`, 200],
    ["the one that comes after it", `Bearer ${nextToken}`, 200],
    ...wrongTokens.map(([name, authorization]) => [name, authorization, 401] as const),
  ])("of an operator, given %s", async (_name, authorization, status) => {
    const { internalPort } = await start(tokens);
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await call({ port: internalPort, path: "/internal/things", headers });
    expect(answer.status).toBe(status);
    if (status === 401) expect(codesOf(answer)).toBe("UNAUTHENTICATED");
  });

  test.each([
    ["of the services", servicesToken, 200],
    ["of operators", token, 401],
  ])("of a service, given the token %s", async (_name, given, status) => {
    const { internalPort } = await start(tokens);
    const headers = { authorization: `Bearer ${given}` };
    const answer = await call({ port: internalPort, path: "/internal/question", headers });
    expect(answer.status).toBe(status);
  });

  test.each([
    ["INTERNAL_TOKEN", "/internal/question", "/internal/things"],
    ["OPERATOR_TOKEN", "/internal/things", "/internal/question"],
  ])("where only %s is set, opens %s to it and %s to nobody", async (name, own, others) => {
    const { internalPort: port } = await start({ [name]: token });
    const headers = { authorization: `Bearer ${token}` };
    expect((await call({ port, path: own, headers })).status).toBe(200);
    expect((await call({ port, path: own })).status).toBe(401);
    expect((await call({ port, path: others, headers })).status).toBe(401);
    expect((await call({ port, path: others })).status).toBe(401);
  });

  test("reads a JSON body by the same rules as public ones", async () => {
    const { internalPort } = await start();
    const post = (body: string) =>
      call({
        port: internalPort,
        path: "/internal/things",
        headers: { "content-type": "application/json" },
        body,
      });
    expect((await post("{}")).status).toBe(200);
    expect(codesOf(await post("{"))).toBe("json_invalid");
    expect(codesOf(await post("x".repeat(100_000)))).toBe("PAYLOAD_TOO_LARGE");
    expect(logged.join("")).not.toContain('"level":"error"');
  });

  test.each([
    ["/internal/refused", 409, "HANDLE_TAKEN"],
    ["/internal/broken", 500, "INTERNAL_ERROR"],
    ["/internal/none", 404, "NOT_FOUND"],
    ["/internal/named/%", 404, "NOT_FOUND"],
    ["/internal/named/a%00b", 404, "NOT_FOUND"],
    ["/%ff", 404, "NOT_FOUND"],
  ])("to %s is answered %i with the envelope", async (path, status, code) => {
    const { internalPort } = await start();
    const answer = await call({ port: internalPort, path });
    expect([answer.status, codesOf(answer)]).toEqual([status, code]);
    expect(answer.text).not.toContain("hunter2");
    expect(logged.join("").includes('"level":"error"')).toBe(status === 500);
  });
});

describe("connections of a process", () => {
  const connectIdle = async (port: number) => {
    const agent = new Agent({ keepAlive: true });
    await call({ port, agent });
    return agent;
  };
  const openCount = (text: string) =>
    Number(
      /^payment_links_connections\{listener="public",state="idle".*\} (\d+)$/m.exec(text)?.[1],
    );

  test("are counted in its metrics, and have a limit per address (rule OPS-10)", async () => {
    const { port, internalPort } = await start({ CONNECTIONS_PER_IP_MAX: "2" });
    const agents: Agent[] = [];
    for (let count = 0; count < 3; count += 1) agents.push(await connectIdle(port));
    const { text } = await call({ port: internalPort, path: "/metrics" });
    for (const agent of agents) agent.destroy();
    expect(openCount(text)).toBe(2);
    expect(text).toMatch(/_ended_total\{listener="public",reason="evicted_idle".*\} 1$/m);
    expect(text).toMatch(/_ended_total\{listener="internal",reason="evicted_idle".*\} 0$/m);
  });

  test("of a trusted proxy have no limit per address (rule OPS-10)", async () => {
    const environment = { CONNECTIONS_PER_IP_MAX: "2" };
    const { port, internalPort } = await start(environment, [service()], [], ["127.0.0.0/8"]);
    const agents: Agent[] = [];
    for (let count = 0; count < 5; count += 1) agents.push(await connectIdle(port));
    const { text } = await call({ port: internalPort, path: "/metrics" });
    for (const agent of agents) agent.destroy();
    expect(openCount(text)).toBe(5);
  });
});

describe("the configuration of the ports (rule OPS-2)", () => {
  const faults = (environment: Record<string, string>): string[] =>
    serveConfig.safeParse(environment).error?.issues.map((issue) => issue.path.join(".")) ?? [];

  test("has loopback addresses for defaults", () => {
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
    [{ INTERNAL_HOST: "::", OPERATOR_TOKEN: token }, ["INTERNAL_TOKEN"]],
    [{ INTERNAL_HOST: "10.1.2.3", INTERNAL_TOKEN: token }, ["OPERATOR_TOKEN"]],
    [{ INTERNAL_HOST: "0.0.0.0", ...tokens }, []],
    [{ ...tokens, INTERNAL_TOKEN: `${servicesToken},${nextToken}` }, ["OPERATOR_TOKEN"]],
    [{ INTERNAL_HOST: "::1" }, []],
    [{ INTERNAL_HOST: "localhost" }, []],
    [{ INTERNAL_TOKEN: "too short" }, ["INTERNAL_TOKEN"]],
    [{ OPERATOR_TOKEN: `${token},too short` }, ["OPERATOR_TOKEN"]],
    [{ OPERATOR_TOKEN: " , " }, ["OPERATOR_TOKEN"]],
    [{ PORT: "http" }, ["PORT"]],
    [{ DRAIN_DELAY_SECONDS: "61" }, ["DRAIN_DELAY_SECONDS"]],
    [{ CONNECTIONS_MAX: "0" }, ["CONNECTIONS_MAX"]],
    [{ CONNECTIONS_PER_IP_MAX: "many" }, ["CONNECTIONS_PER_IP_MAX"]],
  ])("%j: faults %j", (environment, names) => {
    expect(faults(environment)).toEqual(names);
  });
});
