import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import * as z from "zod";
import {
  type Account,
  type ChainAdvance,
  AuditRecord,
  type Catalogue,
  type IntrospectionAnswer,
  type Scope,
  type SettlementState,
  type SolanaFacts,
  type SolanaFactsQuestion,
  accountUpdated,
  chainAdvanced,
  hashSecret,
  mintApiKey,
  newId,
  scopes,
  topics,
} from "@payment-links/contracts";
import { NothingRow, type Pool, type Transaction, openPool } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import type { Ground } from "@payment-links/process";
import { holdAnswer, openTestGround, serveForTest } from "@payment-links/process/testing";
import { type Clock, openMetrics } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { createDeps } from "../create-deps.ts";
import { applySettlements } from "../events/apply-settlements.ts";
import { keepAccount } from "../events/keep-account.ts";
import { keepChainAdvance } from "../events/keep-chain-advance.ts";
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
const IsSeenRow = z.object({ isSeen: z.boolean() });

type RigOptions = {
  limits?: Ground["limits"];
  clock?: Clock;
  catalogue?: Catalogue;
  /** The chains on which payers are told how to pay; none if not given. */
  settlementChains?: readonly string[];
  /** The chains on which transfers straight to owners are read; none if not given. */
  transferChains?: readonly string[];
  webhookHeaderPrefix?: string;
  checkoutUrl?: string;
  eventStreamLimits?: { inAll: number; perAddress: number };
  /** Whether anyone may open an account; nobody may if not given. */
  isSignUpOpen?: boolean;
};
type Call = { method?: string; headers?: Record<string, string>; body?: string | Buffer };
type Grant = { scopes?: readonly Scope[]; expiresAt?: Date | null };

/** The answer: a test looks only at what it asserts. */
export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  json: ReturnType<typeof JSON.parse>;
};

/** The service on a database of its own, listening on loopback; its clock stands still. */
export const openRig = async ({
  limits,
  clock: givenClock,
  catalogue,
  settlementChains = [],
  transferChains = [],
  webhookHeaderPrefix = "Service",
  checkoutUrl,
  eventStreamLimits = { inAll: 100, perAddress: 100 },
  isSignUpOpen = false,
}: RigOptions = {}) => {
  const answers = new Map<string, IntrospectionAnswer>();
  const auth = { isAway: false };
  /** What settlement-listener tells of Solana; it is away while nothing stands here. */
  /** Which addresses of Bitcoin a node has seen used; it is away while nothing stands here. */
  const bitcoin: { used?: ReadonlySet<string> } = {};
  const solana: { facts?: SolanaFacts; asked: SolanaFactsQuestion[] } = { asked: [] };
  const testGround = await openTestGround({
    name: "links-api",
    migration: linksApiMigration,
    change: {
      ...(limits === undefined ? {} : { limits }),
      ...(givenClock === undefined ? {} : { clock: givenClock }),
      ...(catalogue === undefined ? {} : { catalogue }),
      ...(checkoutUrl === undefined ? {} : { checkoutUrl }),
      baseUrl: "http://127.0.0.1",
      askSolana: async (question) => {
        solana.asked.push(question);
        if (solana.facts === undefined) throw new Error("settlement-listener is away");
        return solana.facts;
      },
      askUsedAddresses: async ({ addresses }) => {
        if (bitcoin.used === undefined) throw new Error("settlement-listener is away");
        return { usedAddresses: addresses.filter((address) => bitcoin.used?.has(address)) };
      },
      ask: async ({ kind, hash }) => {
        if (auth.isAway) throw new Error("auth-keys is away");
        return answers.get(`${kind} ${hash}`) ?? { found: false };
      },
    },
  });
  const { database, ground, pool } = testGround;
  const { clock, log } = ground;
  const service = createLinksApi(ground, {
    settlementChains: [...settlementChains],
    transferChains: [...transferChains],
    webhookHeaderPrefix,
    eventStreamLimits,
    isSignUpOpen,
  });
  const directMetrics = openMetrics("direct");
  const deps = createDeps(
    { ...ground, metrics: directMetrics },
    {
      settlementChains: new Set(settlementChains),
      transferChains: new Set(transferChains),
      webhookHeaderPrefix,
      eventStreamLimits,
      isSignUpOpen,
      wakeRelay: () => {},
    },
  );
  const served = await serveForTest(service, ground);

  const asAdmin = async (work: (admin: Pool) => Promise<unknown>): Promise<void> => {
    const admin = await openPool({
      url: database.adminUrl,
      applicationName: "test",
      connectionsMax: 1,
      log,
    });
    await work(admin);
    await admin.end();
  };

  const callAt = async (baseUrl: string, path: string, call: Call = {}): Promise<Answer> => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method: call.method ?? "GET",
      redirect: "manual",
      headers: {
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") === true;
    const json: unknown = isJson && text !== "" ? JSON.parse(text) : undefined;
    const { status, headers } = answer;
    holdAnswer({ method: call.method ?? "GET", path, status, json });
    return { status, headers, text, json };
  };

  const grant = (kind: string, secret: string, account: Account, grant: Grant): void => {
    const credential = {
      id: newId(kind === "session" ? "sess" : "key"),
      bucketId: newId("key"),
      scopes: [...(grant.scopes ?? scopes)],
      expiresAt: grant.expiresAt ?? null,
      ...(kind === "session" ? { method: "siwe" } : {}),
    };
    const hash = hashSecret(secret).toString("hex");
    answers.set(`${kind} ${hash}`, { found: true, account, credential });
  };

  const eventOf = (data: SettlementState) => ({
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
    ...testGround,
    /** An account's new state arrives. */
    hear: (
      account: Account,
      { type }: { type: string } = accountUpdated,
      occurredAt: Date = clock.now(),
    ) =>
      pool.transaction((tx) =>
        keepAccount(deps)(tx, account, { id: newId("evt"), type, key: account.id, occurredAt }),
      ),
    /** Something is told of how far a chain is. */
    advance: (advance: ChainAdvance) =>
      pool.transaction((tx) =>
        keepChainAdvance(deps)(tx, advance, {
          id: newId("evt"),
          type: chainAdvanced.type,
          key: advance.chainId,
          occurredAt: advance.at,
        }),
      ),
    auth,
    solana,
    bitcoin,
    deps,
    directMetrics,
    service,
    publicUrl: served.publicUrl,
    call: (path: string, call?: Call) => callAt(served.publicUrl, path, call),
    internalCall: (path: string, call?: Call) => callAt(served.internalUrl, path, call),
    /** Makes a key of an account, as auth-keys would know it; answers the header that carries it. */
    giveKey: (account: Account, granted: Grant = {}) => {
      const key = mintApiKey("test");
      grant("api-key", key, account, granted);
      return { "x-api-key": key };
    },
    /** Signs a person in to an account; answers the header that carries the session. */
    giveSession: (account: Account) => {
      const token = randomUUID();
      grant("session", token, account, {});
      return { cookie: `session-links=${token}` };
    },
    /** Creates a link over HTTP and answers its id. */
    createLink: async (headers: Record<string, string>, order: object): Promise<string> => {
      const body = JSON.stringify(order);
      const answer = await rig.call("/v1/payment-link", { method: "POST", headers, body });
      if (answer.status !== 200) throw new Error(`no link: ${answer.status} ${answer.text}`);
      return answer.json.id;
    },
    retrieve: async (id: string) => (await rig.call(`/v1/payment-link/${id}`)).json,
    /** Applies settlements as the consumer does, in a transaction of their own. */
    settle: async (...settlements: SettlementState[]): Promise<void> => {
      const act = await pool.transaction((tx) => rig.settleWithin(tx, ...settlements));
      act?.();
    },
    settleWithin: (tx: Transaction, ...settlements: SettlementState[]) =>
      applySettlements(deps)(tx, settlements.map(eventOf)),
    /** Waits until so many in this database wait for a lock. */
    untilBlocked: (tx: Transaction, waitingMin = 1) =>
      waitUntil("somebody waits for a lock", async () => (await countLockWaits(tx)) >= waitingMin),
    /** What a link's events in the outbox say, in the order of their sending. */
    eventsOf: async (linkId: string) => {
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
    /** What the outbox tells the audit log of an account. */
    readAudit: async (accountId: string) => {
      const rows = await pool.any(sql.type(OutboxRow)`
        SELECT id, type, key, value FROM outbox
        WHERE key = ${accountId} AND topic = ${topics.audit} ORDER BY seq
      `);
      return rows.map(({ value }) => z.decode(AuditRecord, JSON.parse(value)));
    },
    countKeptAnswers: async () => {
      const { count } = await pool.one(sql.type(CountRow)`
        SELECT count(*)::int AS count FROM idempotency_keys
      `);
      return count;
    },
    /** The status that a link's row says, whatever its expiry. */
    storedStatus: (id: string) =>
      pool.oneFirst(sql.type(StatusRow)`SELECT status FROM links WHERE id = ${id}`),
    /** Lets the planner learn how many links there are, as autovacuum would. */
    analyzeLinks: () => pool.query(sql.type(NothingRow)`ANALYZE links`),
    /** Notes which pages of the table hold nothing but what everybody sees, as autovacuum would. */
    vacuumLinks: () =>
      asAdmin((admin) =>
        // A row counts as unseen by somebody as long as its commit is not on disk, or a transaction
        // that is older goes on: an autovacuum's `ANALYZE` is one. Few rows that are gone would be left,
        // and their pages with them.
        waitUntil("everybody sees all links", async () => {
          await admin.query(sql.type(NothingRow)`CHECKPOINT`);
          await admin.query(sql.type(NothingRow)`
            VACUUM (ANALYZE, INDEX_CLEANUP ON) links_api.links
          `);
          return admin.oneFirst(sql.type(IsSeenRow)`
            SELECT relallvisible = relpages AS "isSeen" FROM pg_class
            WHERE oid = 'links_api.links'::regclass
          `);
        }),
      ),
    close: async () => {
      await served.close();
      await service.stop();
      await testGround.close();
    },
  };
  return rig;
};
export type Rig = Awaited<ReturnType<typeof openRig>>;
