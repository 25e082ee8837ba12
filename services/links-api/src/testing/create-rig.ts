import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import * as z from "zod";
import {
  type Account,
  type ChainAdvance,
  AuditRecord,
  type Catalogue,
  type IntrospectionResponse,
  type Mode,
  type ReceiptEmail,
  type ReceiptResult,
  type Scope,
  type SettlementState,
  type SolanaAccountState,
  type SolanaAccountStateRequest,
  accountUpdated,
  chainAdvanced,
  hashSecret,
  generateApiKey,
  newId,
  scopes,
  topics,
} from "@payment-links/contracts";
import {
  VoidRow,
  type Pool,
  type Transaction,
  connectPool,
  transact,
} from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import type { ServiceContext } from "@payment-links/process";
import {
  assertDocumentedResponse,
  createTestContext,
  startTestListeners,
} from "@payment-links/process/testing";
import { type Clock, createMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { createDependencies } from "../dependencies.ts";
import { applySettlements } from "../events/apply-settlements.ts";
import { saveAccount } from "../events/save-account.ts";
import { saveChainProgress } from "../events/save-chain-progress.ts";
import { createLinksApi, linksApiMigration } from "../service.ts";

const OutboxRow = z.object({
  id: z.string(),
  type: z.string(),
  key: z.string(),
  value: z.string(),
});
const EventRow = OutboxRow.extend({ occurredAt: z.date() });

const StatusRow = z.object({ status: z.string() });
const CountRow = z.object({ count: z.int() });
const IsAllVisibleRow = z.object({ isSeen: z.boolean() });

type RigOptions = {
  limits?: ServiceContext["limits"];
  clock?: Clock;
  catalogue?: Catalogue;
  /** The chains on which the checkout offers payment instructions; none if omitted. */
  settlementChains?: readonly string[];
  /** The chains on which direct transfers to owners are tracked; none if omitted. */
  transferChains?: readonly string[];
  webhookHeaderPrefix?: string;
  checkoutUrl?: string;
  eventStreamLimits?: { total: number; perAddress: number };
  /** Whether anyone may sign up; false if omitted. */
  isSignUpOpen?: boolean;
  /** Whether the installation sends email; false if omitted. */
  hasEmail?: boolean;
};
type CallOptions = { method?: string; headers?: Record<string, string>; body?: string | Buffer };
type CredentialOptions = { scopes?: readonly Scope[]; expiresAt?: Date | null; mode?: Mode };

/** A response. Its JSON is not typed, because a test checks only what it asserts. */
export type CallResponse = {
  status: number;
  headers: Headers;
  text: string;
  json: ReturnType<typeof JSON.parse>;
};

/**
 * Starts the service with its own database, listening on loopback. Its clock only advances when a
 * test advances it.
 */
export const createRig = async ({
  limits,
  clock: clockOverride,
  catalogue,
  settlementChains = [],
  transferChains = [],
  webhookHeaderPrefix = "Service",
  checkoutUrl,
  eventStreamLimits = { total: 100, perAddress: 100 },
  isSignUpOpen = false,
  hasEmail = false,
}: RigOptions = {}) => {
  const introspectionResponses = new Map<string, IntrospectionResponse>();
  const auth = { isUnavailable: false };
  /**
   * If `usedAddresses` or `accountState` is undefined, requests to the Bitcoin or Solana node fail.
   */
  const bitcoin: { usedAddresses?: ReadonlySet<string> } = {};
  const solana: {
    accountState?: SolanaAccountState;
    /** If set, the responses for payers wait for it. */
    held?: Promise<void>;
    requests: SolanaAccountStateRequest[];
  } = {
    requests: [],
  };
  const receipts: { requests: ReceiptEmail[]; respond: () => Promise<ReceiptResult> } = {
    requests: [],
    respond: async () => ({ outcome: "sent" }),
  };
  const testContext = await createTestContext({
    name: "links-api",
    migration: linksApiMigration,
    overrides: {
      ...(limits === undefined ? {} : { limits }),
      ...(clockOverride === undefined ? {} : { clock: clockOverride }),
      ...(catalogue === undefined ? {} : { catalogue }),
      ...(checkoutUrl === undefined ? {} : { checkoutUrl }),
      baseUrl: "http://127.0.0.1",
      fetchSolanaAccountState: async (request) => {
        solana.requests.push(request);
        if (request.payer !== request.owner) await solana.held;
        if (solana.accountState === undefined)
          throw new Error("settlement-listener is unavailable");
        return solana.accountState;
      },
      fetchUsedAddresses: async ({ addresses }) => {
        if (bitcoin.usedAddresses === undefined)
          throw new Error("settlement-listener is unavailable");
        return {
          usedAddresses: addresses.filter((address) => bitcoin.usedAddresses?.has(address)),
        };
      },
      sendReceipt: (receipt) => {
        receipts.requests.push(receipt);
        return receipts.respond();
      },
      requestIntrospection: async ({ kind, hash }) => {
        if (auth.isUnavailable) throw new Error("auth-keys is unavailable");
        return introspectionResponses.get(`${kind} ${hash}`) ?? { found: false };
      },
    },
  });
  const { database, context, pool } = testContext;
  const { clock, log } = context;
  const config = {
    settlementChains: [...settlementChains],
    transferChains: [...transferChains],
    webhookHeaderPrefix,
    eventStreamLimits,
    isSignUpOpen,
    hasEmail,
  };
  const service = createLinksApi(context, config);
  const directMetrics = createMetrics("direct");
  const directContext = { ...context, metrics: directMetrics };
  const dependencies = createDependencies(directContext, config, () => {});
  const server = await startTestListeners(service, context);

  const asAdmin = async (run: (admin: Pool) => Promise<unknown>): Promise<void> => {
    const admin = await connectPool({
      url: database.adminUrl,
      applicationName: "test",
      connectionsMax: 1,
      log,
    });
    await run(admin);
    await admin.end();
  };

  const sendRequest = async (
    baseUrl: string,
    path: string,
    options: CallOptions = {},
  ): Promise<CallResponse> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: options.method ?? "GET",
      redirect: "manual",
      headers: {
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: options.body }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    const json: unknown = isJson && text !== "" ? JSON.parse(text) : undefined;
    const { status, headers } = response;
    assertDocumentedResponse({ method: options.method ?? "GET", path, status, json });
    return { status, headers, text, json };
  };

  const registerCredential = (
    kind: string,
    secret: string,
    account: Account,
    options: CredentialOptions,
  ): void => {
    const credential = {
      id: newId(kind === "session" ? "sess" : "key"),
      bucketId: newId("key"),
      scopes: [...(options.scopes ?? scopes)],
      expiresAt: options.expiresAt ?? null,
      ...(options.mode === undefined ? {} : { mode: options.mode }),
      ...(kind === "session" ? { method: "siwe" } : {}),
    };
    const hash = hashSecret(secret).toString("hex");
    introspectionResponses.set(`${kind} ${hash}`, { found: true, account, credential });
  };

  const toChunkEvent = (data: SettlementState) => ({
    data,
    envelope: {
      id: newId("evt"),
      type: `settlement.${data.status}`,
      key: data.paymentLinkId,
      occurredAt: clock.now(),
    },
    traceparent: undefined,
  });

  const rig = {
    ...testContext,
    /** Receives an account's new state. */
    receiveAccount: (
      account: Account,
      { type }: { type: string } = accountUpdated,
      occurredAt: Date = clock.now(),
    ) =>
      pool.transaction((tx) =>
        saveAccount(dependencies)(tx, account, {
          id: newId("evt"),
          type,
          key: account.id,
          occurredAt,
        }),
      ),
    /** Receives a chain's progress. */
    receiveChainAdvance: (chainAdvance: ChainAdvance) =>
      pool.transaction((tx) =>
        saveChainProgress(dependencies)(tx, chainAdvance, {
          id: newId("evt"),
          type: chainAdvanced.type,
          key: chainAdvance.chainId,
          occurredAt: chainAdvance.at,
        }),
      ),
    auth,
    solana,
    bitcoin,
    /** The receipts that auth-keys was asked to send, and its response. */
    receipts,
    dependencies,
    directMetrics,
    service,
    publicUrl: server.publicUrl,
    call: (path: string, options?: CallOptions) => sendRequest(server.publicUrl, path, options),
    internalCall: (path: string, options?: CallOptions) =>
      sendRequest(server.internalUrl, path, options),
    /**
     * Creates an API key of an account, which the fake auth-keys accepts. Returns the header with
     * the key.
     */
    createKeyHeaders: (account: Account, credentialOptions: CredentialOptions = {}) => {
      const key = generateApiKey("test");
      registerCredential("api-key", key, account, credentialOptions);
      return { "x-api-key": key };
    },
    /** Signs a person in to an account. Returns the header with the session cookie. */
    createSessionHeaders: (account: Account) => {
      const token = randomUUID();
      registerCredential("session", token, account, {});
      return { cookie: `session-links=${token}` };
    },
    /** Creates a link over HTTP and returns its id. */
    createLink: async (headers: Record<string, string>, body: object): Promise<string> => {
      const bodyText = JSON.stringify(body);
      const response = await rig.call("/v1/payment-link", {
        method: "POST",
        headers,
        body: bodyText,
      });
      if (response.status !== 200)
        throw new Error(`link creation failed: ${response.status} ${response.text}`);
      return response.json.id;
    },
    retrieve: async (id: string) => (await rig.call(`/v1/payment-link/${id}`)).json,
    /** Applies settlements in a separate transaction, as the consumer does. */
    settle: async (...settlements: SettlementState[]): Promise<void> => {
      await transact(pool, (tx) => rig.settleInTransaction(tx, ...settlements));
    },
    settleInTransaction: (tx: Transaction, ...settlements: SettlementState[]) =>
      applySettlements(dependencies)(tx, settlements.map(toChunkEvent)),
    /** Waits until at least `waitingMin` sessions of this database are waiting for a lock. */
    waitUntilBlocked: (tx: Transaction, waitingMin = 1) =>
      waitUntil("a session waits for a lock", async () => (await countLockWaits(tx)) >= waitingMin),
    /** Lists a link's events from the outbox in order. */
    listEvents: async (linkId: string) => {
      const rows = await pool.any(sql.type(EventRow)`
        SELECT id, type, key, occurred_at AS "occurredAt", value FROM outbox
        WHERE key = ${linkId} ORDER BY seq
      `);
      return rows.map(({ id, type, occurredAt, value }) => ({
        id,
        type,
        occurredAt,
        data: JSON.parse(value),
      }));
    },
    /** Lists an account's audit events from the outbox. */
    listAuditRecords: async (accountId: string) => {
      const rows = await pool.any(sql.type(OutboxRow)`
        SELECT id, type, key, value FROM outbox
        WHERE key = ${accountId} AND topic = ${topics.audit} ORDER BY seq
      `);
      return rows.map(({ value }) => z.decode(AuditRecord, JSON.parse(value)));
    },
    countStoredResponses: async () => {
      const { count } = await pool.one(sql.type(CountRow)`
        SELECT count(*)::int AS count FROM idempotency_keys
      `);
      return count;
    },
    /** Reads the status in a link's row, which does not depend on the current time. */
    readStoredStatus: (id: string) =>
      pool.oneFirst(sql.type(StatusRow)`SELECT status FROM links WHERE id = ${id}`),
    /** Updates the planner's statistics for `links`, as autovacuum does. */
    analyzeLinks: () => pool.query(sql.type(VoidRow)`ANALYZE links`),
    /** Marks the pages of `links` as all-visible, as autovacuum does. */
    vacuumLinks: () =>
      asAdmin((admin) =>
        // A row is not visible to all transactions until its commit is flushed to disk and all
        // older transactions have ended. The `ANALYZE` of an autovacuum is such a transaction.
        // Until then, dead rows remain and their pages are not marked.
        waitUntil("every page of links is all-visible", async () => {
          await admin.query(sql.type(VoidRow)`CHECKPOINT`);
          await admin.query(sql.type(VoidRow)`
            VACUUM (ANALYZE, INDEX_CLEANUP ON) links_api.links
          `);
          return admin.oneFirst(sql.type(IsAllVisibleRow)`
            SELECT relallvisible = relpages AS "isSeen" FROM pg_class
            WHERE oid = 'links_api.links'::regclass
          `);
        }),
      ),
    close: async () => {
      await server.close();
      await service.stop();
      await testContext.close();
    },
  };
  return rig;
};
export type Rig = Awaited<ReturnType<typeof createRig>>;
