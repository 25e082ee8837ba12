import * as z from "zod";
import { sql } from "slonik";
import {
  type Catalogue,
  type SolanaFacts,
  type SolanaFactsQuestion,
  type Topic,
  hashSecret,
  topics,
} from "@payment-links/contracts";
import { holdAnswer, openTestGround, serveForTest } from "@payment-links/process/testing";
import type { Ground } from "@payment-links/process";
import type { AuthKeysConfig, OidcClient } from "../config.ts";
import { authKeysMigration, createAuthKeys } from "../service.ts";

type Limit = Ground["limits"]["perKey"];
type Call = { body?: unknown; cookie?: string; headers?: Record<string, string> };

type RigOptions = {
  ipBurst?: number;
  perKey?: Limit;
  baseUrl?: string;
  apiKeyMode?: "live" | "test";
  catalogue?: Catalogue;
  oidc?: OidcClient;
  signUp?: AuthKeysConfig["signUp"];
  signInMethods?: AuthKeysConfig["signInMethods"];
  leakedKeysPublicKeys?: AuthKeysConfig["leakedKeysPublicKeys"];
  walletDelayMs?: number;
  auditLogDays?: number;
  rpcUrls?: AuthKeysConfig["rpcUrls"];
  /** Where the clock stands at first. */
  now?: Date;
};

const ample: Limit = { tokensPerSecond: 1_000_000, burst: 1_000_000 };

const Event = z.object({ type: z.string(), topic: z.string(), value: z.string() });
const Audit = z.object({ action: z.string(), targetId: z.string().nullable() });

/**
 * The service on a database of its own, listening on loopback, with a clock that stands still. It
 * is not started: events stay in the outbox, where a test can read them, until a test starts it.
 */
export const openRig = async ({
  ipBurst,
  perKey = ample,
  baseUrl,
  apiKeyMode = "live",
  catalogue,
  oidc,
  signUp = "open",
  signInMethods = ["link", "siwe", "oidc", "passkey"],
  leakedKeysPublicKeys = new Map(),
  walletDelayMs = 0,
  auditLogDays = 0,
  rpcUrls = new Map(),
  now,
}: RigOptions = {}) => {
  const solana: { answer: () => Promise<SolanaFacts | undefined>; asked: SolanaFactsQuestion[] } = {
    answer: async () => undefined,
    asked: [],
  };
  const testGround = await openTestGround({
    name: "auth-keys",
    migration: authKeysMigration,
    ...(now === undefined ? {} : { now }),
    change: {
      limits: {
        perKey,
        perAddress: ipBurst === undefined ? ample : { tokensPerSecond: 0.001, burst: ipBurst },
      },
      askSolana: (question) => {
        solana.asked.push(question);
        return solana.answer();
      },
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(catalogue === undefined ? {} : { catalogue }),
    },
  });
  const { ground, pool } = testGround;
  const service = createAuthKeys(ground, {
    apiKeyMode,
    oidc,
    signUp,
    signInMethods,
    leakedKeysPublicKeys,
    walletDelayMs,
    auditLogDays,
    rpcUrls,
  });
  const served = await serveForTest(service, ground);
  const { publicUrl, internalUrl } = served;

  const call = (method: string, path: string, given: Call = {}) =>
    send(method, `${path.startsWith("/internal/") ? internalUrl : publicUrl}${path}`, given);

  /** Makes an account as an operator does; its sign-in token is not used yet. */
  const makeAccount = async (given: { handle?: string; username?: string } = {}) => {
    const { body } = await call("POST", "/internal/accounts", {
      body: { username: "Alice", ...given },
    });
    return { userId: String(body.userId), token: tokenOf(body.signInUrl) };
  };

  /** Signs in with a one-time token; answers the cookie as a browser would send it. */
  const signIn = async (token: string, given: Call = {}): Promise<string> => {
    const answer = await call("POST", "/console/api/session", { ...given, body: { token } });
    if (answer.status !== 200) throw new Error(`signing in was answered with ${answer.status}`);
    return cookieOf(answer.headers);
  };

  return {
    ...testGround,
    call,
    internalUrl,
    makeAccount,
    metrics: ground.metrics,
    publicUrl,
    service,
    signIn,
    /** What settlement-listener answers about Solana, where no chain is watched at first. */
    solana,
    /** A new account, signed in. */
    signUp: async (given: { handle?: string; username?: string } = {}) => {
      const { userId, token } = await makeAccount(given);
      return { userId, cookie: await signIn(token) };
    },
    introspect: async (kind: "api-key" | "session", secret: string, address?: string) => {
      const body = { kind, hash: hashSecret(secret).toString("hex"), address };
      return (await call("POST", "/internal/introspect", { body })).body;
    },
    /** Writes down the uses noted so far, as every stop does. */
    keepUses: () => service.stop(),
    /** What an account's own events in the outbox say, in the order in which they will be sent. */
    readEvents: async (userId: string, topic: Topic = topics.accounts) => {
      const rows = await pool.any(sql.type(Event)`
        SELECT type, topic, value FROM outbox
        WHERE key = ${userId} AND topic = ${topic} ORDER BY seq
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
    /** The operators whose names the audit log keeps. */
    readOperators: (userId: string) =>
      pool.anyFirst(sql.type(z.object({ operator: z.string() }))`
        SELECT operator FROM audit_log WHERE account_id = ${userId} AND operator IS NOT NULL
      `),
    close: async () => {
      await served.close();
      await service.stop();
      await testGround.close();
    },
  };
};
export type Rig = Awaited<ReturnType<typeof openRig>>;

/** The token in a sign-in address' fragment. */
export const tokenOf = (signInUrl: unknown): string =>
  new URLSearchParams(new URL(String(signInUrl)).hash.slice(1)).get("token") ?? "";

/** The cookies that an answer sets for this service, as a browser would send them. */
export const cookieOf = (headers: Headers): string => {
  const pairs = headers.getSetCookie().map((line) => line.split(";", 1)[0] ?? "");
  return [...new Set(pairs)].filter((pair) => !/^[^=]*-(links|webhooks)=/.test(pair)).join("; ");
};

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
  holdAnswer({ method, path: new URL(url).pathname, status: told.status, json: told.body });
  return told;
};

/** The codes of an error answer, with its status in front. */
export const refusalOf = ({ status, body }: Pick<Answer, "status" | "body">): string => {
  const errors = Array.isArray(body["errors"]) ? body["errors"] : [];
  return [status, ...errors.map((error: { code?: unknown }) => error.code)].join(" ");
};
