import * as z from "zod";
import { sql } from "slonik";
import {
  type Catalogue,
  type SolanaAccountState,
  type SolanaAccountStateRequest,
  type Topic,
  hashSecret,
  topics,
} from "@payment-links/contracts";
import {
  assertDocumentedResponse,
  createTestContext,
  startTestListeners,
} from "@payment-links/process/testing";
import type { ServiceContext } from "@payment-links/process";
import type { AuthKeysConfig, OidcClient } from "../config.ts";
import { authKeysMigration, createAuthKeys } from "../service.ts";

type Limit = ServiceContext["limits"]["perKey"];
type CallOptions = { body?: unknown; cookie?: string; headers?: Record<string, string> };

type RigOptions = {
  ipBurst?: number;
  perKey?: Limit;
  baseUrl?: string;
  catalogue?: Catalogue;
  oidc?: OidcClient;
  signUp?: AuthKeysConfig["signUp"];
  signInMethods?: AuthKeysConfig["signInMethods"];
  leakedKeysPublicKeys?: AuthKeysConfig["leakedKeysPublicKeys"];
  walletDelayMs?: number;
  auditLogDays?: number;
  rpcUrls?: AuthKeysConfig["rpcUrls"];
  /** The SMTP server and the sender. By default, no email is sent. */
  email?: AuthKeysConfig["email"];
  /** The initial time of the fake clock. */
  now?: Date;
};

const unlimited: Limit = { tokensPerSecond: 1_000_000, burst: 1_000_000 };

const EventRow = z.object({ type: z.string(), topic: z.string(), value: z.string() });
const AuditRow = z.object({ action: z.string(), targetId: z.string().nullable() });

/**
 * Creates the service on its own database, listening on loopback, with a fake clock. The service is
 * not started, so events stay in the outbox, where a test can read them.
 */
export const createRig = async ({
  ipBurst,
  perKey = unlimited,
  baseUrl,
  catalogue,
  oidc,
  signUp = "open",
  signInMethods = ["link", "siwe", "oidc", "passkey"],
  leakedKeysPublicKeys = new Map(),
  walletDelayMs = 0,
  auditLogDays = 0,
  rpcUrls = new Map(),
  email,
  now,
}: RigOptions = {}) => {
  const solana: {
    respond: () => Promise<SolanaAccountState | undefined>;
    requests: SolanaAccountStateRequest[];
  } = {
    respond: async () => undefined,
    requests: [],
  };
  const testContext = await createTestContext({
    name: "auth-keys",
    migration: authKeysMigration,
    ...(now === undefined ? {} : { now }),
    overrides: {
      limits: {
        perKey,
        perAddress: ipBurst === undefined ? unlimited : { tokensPerSecond: 0.001, burst: ipBurst },
      },
      fetchSolanaAccountState: (request) => {
        solana.requests.push(request);
        return solana.respond();
      },
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(catalogue === undefined ? {} : { catalogue }),
    },
  });
  const { context, pool } = testContext;
  const service = createAuthKeys(context, {
    oidc,
    signUp,
    signInMethods,
    leakedKeysPublicKeys,
    walletDelayMs,
    auditLogDays,
    rpcUrls,
    email,
  });
  const server = await startTestListeners(service, context);
  const { publicUrl, internalUrl } = server;

  const call = (method: string, path: string, options: CallOptions = {}) =>
    send(method, `${path.startsWith("/internal/") ? internalUrl : publicUrl}${path}`, options);

  /** Creates an account as an operator. Its sign-in token is not used yet. */
  const createAccount = async (options: { handle?: string; username?: string } = {}) => {
    const { body } = await call("POST", "/internal/accounts", {
      body: { username: "Alice", ...options },
    });
    return { userId: String(body.userId), token: parseToken(body.signInUrl) };
  };

  /** Signs in with a one-time token. Returns the cookies as a browser would send them. */
  const signIn = async (token: string, options: CallOptions = {}): Promise<string> => {
    const response = await call("POST", "/console/api/session", { ...options, body: { token } });
    if (response.status !== 200) throw new Error(`sign-in failed with status ${response.status}`);
    return getCookies(response.headers);
  };

  return {
    ...testContext,
    call,
    internalUrl,
    createAccount,
    metrics: context.metrics,
    publicUrl,
    service,
    signIn,
    /** What settlement-listener responds about Solana. By default, no chain is watched. */
    solana,
    /** Creates an account and signs in. */
    signUp: async (options: { handle?: string; username?: string } = {}) => {
      const { userId, token } = await createAccount(options);
      return { userId, cookie: await signIn(token) };
    },
    introspect: async (kind: "api-key" | "session", secret: string, address?: string) => {
      const body = { kind, hash: hashSecret(secret).toString("hex"), address };
      return (await call("POST", "/internal/introspect", { body })).body;
    },
    /** Writes the uses recorded so far, as every stop of the service does. */
    flushLastUses: () => service.stop(),
    /** Returns the account's events in the outbox, in publishing order. */
    readEvents: async (userId: string, topic: Topic = topics.accounts) => {
      const rows = await pool.any(sql.type(EventRow)`
        SELECT type, topic, value FROM outbox
        WHERE key = ${userId} AND topic = ${topic} ORDER BY seq
      `);
      return rows.map(({ type, topic, value }) => ({ type, topic, data: JSON.parse(value) }));
    },
    readAudit: async (userId: string) => {
      const rows = await pool.any(sql.type(AuditRow)`
        SELECT action, target_id AS "targetId" FROM audit_log WHERE account_id = ${userId}
        ORDER BY seq
      `);
      return rows.map((row) => row.action);
    },
    /** Returns the names of operators in the account's audit log. */
    readOperators: (userId: string) =>
      pool.anyFirst(sql.type(z.object({ operator: z.string() }))`
        SELECT operator FROM audit_log WHERE account_id = ${userId} AND operator IS NOT NULL
      `),
    close: async () => {
      await server.close();
      await service.stop();
      await testContext.close();
    },
  };
};
export type Rig = Awaited<ReturnType<typeof createRig>>;

/** Returns the token in a sign-in URL's fragment. */
export const parseToken = (signInUrl: unknown): string =>
  new URLSearchParams(new URL(String(signInUrl)).hash.slice(1)).get("token") ?? "";

/** Returns the cookies that a response sets for this service, as a browser would send them. */
export const getCookies = (headers: Headers): string => {
  const pairs = headers.getSetCookie().map((line) => line.split(";", 1)[0] ?? "");
  return [...new Set(pairs)].filter((pair) => !/^[^=]*-(links|webhooks)=/.test(pair)).join("; ");
};

// The body is not typed, because its shape is what tests assert.
type ApiResponse = {
  status: number;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
};

const send = async (method: string, url: string, { body, cookie, headers }: CallOptions) => {
  const response = await fetch(url, {
    method,
    redirect: "manual",
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(cookie === undefined ? {} : { cookie }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRawBody(body) ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsedResponse: ApiResponse = {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith("{") ? JSON.parse(text) : {},
  };
  assertDocumentedResponse({
    method,
    path: new URL(url).pathname,
    status: parsedResponse.status,
    json: parsedResponse.body,
  });
  return parsedResponse;
};

/** Returns whether a body is sent as it is, and not as JSON. */
const isRawBody = (body: unknown): body is string | Buffer<ArrayBuffer> =>
  typeof body === "string" || Buffer.isBuffer(body);

/** Returns the response's status followed by its error codes. */
export const summarizeResponse = ({
  status,
  body,
}: Pick<ApiResponse, "status" | "body">): string => {
  const errors = Array.isArray(body["errors"]) ? body["errors"] : [];
  return [status, ...errors.map((error: { code?: unknown }) => error.code)].join(" ");
};
