import * as z from "zod";
import { sql } from "slonik";
import { createLocalBus } from "@payment-links/bus";
import { type Catalogue, hashSecret, openCatalogue } from "@payment-links/contracts";
import { createInternalApp, listen } from "@payment-links/http";
import { openPool } from "@payment-links/postgres";
import { createTestDatabase } from "@payment-links/postgres/testing";
import type { Ground } from "@payment-links/process";
import { createLocalLimiter } from "@payment-links/rate-limit";
import { createHeldClock, openLog, openMetrics } from "@payment-links/runtime";
import type { OidcClient } from "../config.ts";
import { authKeysMigration, createAuthKeys } from "../service.ts";

type Call = { body?: unknown; cookie?: string; headers?: Record<string, string> };

type RigOptions = {
  ipBurst?: number;
  baseUrl?: string;
  apiKeyMode?: "live" | "test";
  catalogue?: Catalogue;
  oidc?: OidcClient;
  /** Where the clock stands at first. */
  now?: Date;
};

const host = "127.0.0.1";
const plenty = { tokensPerSecond: 100_000, burst: 100_000 };
const Event = z.object({ type: z.string(), topic: z.string(), value: z.string() });
const Audit = z.object({ action: z.string(), targetId: z.string().nullable() });

/**
 * The service on a database of its own, listening on loopback, with a clock that stands still. It
 * is not started: events stay in the outbox, where a test can read them, until a test starts it.
 */
export const openRig = async ({
  ipBurst,
  baseUrl,
  apiKeyMode = "live",
  catalogue = openCatalogue(),
  oidc,
  now = new Date("2026-11-21T10:00:00.000Z"),
}: RigOptions = {}) => {
  const database = await createTestDatabase([authKeysMigration]);
  const databaseUrl = database.urlOf(authKeysMigration.schema);
  const logLines: string[] = [];
  const log = openLog(
    { service: "auth-keys", level: "trace" },
    { write: (line) => void logLines.push(line) },
  );
  const pool = await openPool({
    url: databaseUrl,
    applicationName: "auth-keys",
    connectionsMax: 16,
    log,
  });
  const clock = createHeldClock(now);
  const metrics = openMetrics("auth-keys");
  const bus = createLocalBus();
  const ground: Ground = {
    pool,
    databaseUrl,
    bus,
    clock,
    log,
    metrics,
    limiter: createLocalLimiter({ clock }),
    limits: {
      perKey: plenty,
      perAddress: ipBurst === undefined ? plenty : { tokensPerSecond: 0.001, burst: ipBurst },
    },
    trustedProxies: [],
    ask: () => Promise.reject(new Error("auth-keys asks nobody")),
    catalogue,
    baseUrl: baseUrl ?? "http://127.0.0.1:8080",
    checkoutUrl: "https://pay.example",
  };
  const service = createAuthKeys(ground, { apiKeyMode, oidc });
  const open = await listen({ handler: service.app, host, port: 0, variable: "PORT" });
  const internal = await listen({
    handler: createInternalApp({
      services: [service],
      isDraining: () => false,
      hostNames: [host],
      log,
    }),
    host,
    port: 0,
    variable: "INTERNAL_PORT",
  });
  const publicUrl = `http://${host}:${open.port}`;
  const internalUrl = `http://${host}:${internal.port}`;

  const call = (method: string, path: string, given: Call = {}) =>
    send(method, `${path.startsWith("/internal/") ? internalUrl : publicUrl}${path}`, given);

  /** Makes an account as an operator does; its sign-in token is not used yet. */
  const makeAccount = async (given: { handle?: string; username?: string } = {}) => {
    const { body } = await call("POST", "/internal/accounts", {
      body: { username: "Alice", ...given },
    });
    return { userId: String(body.userId), token: tokenOf(body.signInUrl) };
  };

  /** Signs in by a one-time token; answers the cookie as a browser would send it. */
  const signIn = async (token: string, given: Call = {}): Promise<string> => {
    const answer = await call("POST", "/console/api/session", { ...given, body: { token } });
    if (answer.status !== 200) throw new Error(`signing in was answered with ${answer.status}`);
    return cookieOf(answer.headers);
  };

  return {
    bus,
    call,
    clock,
    database,
    ground,
    internalUrl,
    logLines,
    makeAccount,
    metrics,
    pool,
    publicUrl,
    service,
    signIn,
    /** A new account, signed in. */
    signUp: async (given: { handle?: string; username?: string } = {}) => {
      const { userId, token } = await makeAccount(given);
      return { userId, cookie: await signIn(token) };
    },
    introspect: async (kind: "api-key" | "session", secret: string) => {
      const body = { kind, hash: hashSecret(secret).toString("hex") };
      return (await call("POST", "/internal/introspect", { body })).body;
    },
    /** Writes down the uses noted so far, as every stop does. */
    keepUses: () => service.stop(),
    /** What of an account's events waits in the outbox, in the order of its sending. */
    readEvents: async (userId: string) => {
      const rows = await pool.any(sql.type(Event)`
        SELECT type, topic, value FROM outbox WHERE key = ${userId} ORDER BY seq
      `);
      return rows.map(({ type, topic, value }) => ({ type, topic, data: JSON.parse(value) }));
    },
    readAudit: async (userId: string) => {
      const rows = await pool.any(sql.type(Audit)`
        SELECT action, target_id AS "targetId" FROM audit_log WHERE account_id = ${userId}
        ORDER BY seq
      `);
      return rows.map((row) => row.action);
    },
    close: async () => {
      await open.close();
      await internal.close();
      await service.stop();
      await bus.close();
      await pool.end();
      await database.drop();
    },
  };
};
export type Rig = Awaited<ReturnType<typeof openRig>>;

/** The token in a sign-in address' fragment. */
export const tokenOf = (signInUrl: unknown): string =>
  new URLSearchParams(new URL(String(signInUrl)).hash.slice(1)).get("token") ?? "";

/** The pair of name and value that an answer's `Set-Cookie` asks a browser to keep. */
export const cookieOf = (headers: Headers): string =>
  headers.get("set-cookie")?.split(";", 1)[0] ?? "";

// A test reads answers field by field; their shapes are what it asserts.
type Answer = { status: number; headers: Headers; text: string; body: Record<string, unknown> };

const send = async (method: string, url: string, { body, cookie, headers }: Call) => {
  const answer = await fetch(url, {
    method,
    redirect: "manual",
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(cookie === undefined ? {} : { cookie }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const told: Answer = {
    status: answer.status,
    headers: answer.headers,
    text,
    body: text.startsWith("{") ? JSON.parse(text) : {},
  };
  return told;
};

/** The codes of an error answer, with its status in front. */
export const refusalOf = ({ status, body }: Pick<Answer, "status" | "body">): string => {
  const errors = Array.isArray(body["errors"]) ? body["errors"] : [];
  return [status, ...errors.map((error: { code?: unknown }) => error.code)].join(" ");
};
