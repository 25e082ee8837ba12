import { randomUUID } from "node:crypto";
import { Client, type QueryConfig, type QueryResultRow } from "pg";
import type { Log } from "@payment-links/runtime";
import { settlesWithin } from "./settles-within.ts";

/** Leadership over one schema's outbox. Only the owner of this connection may send. */
export type Leadership = {
  /**
   * The connection that holds the lock. A successful read on it proves that this relay still leads.
   */
  client: Client;
  /**
   * Whether no send of the previous leader can be in flight: it resigned cleanly, or it was this
   * relay.
   */
  isHandedOver: boolean;
};

/** A relay that competes for the leadership of its schema's outbox. */
export type Candidate = {
  /**
   * Acquires the leadership or returns the current one; undefined while another relay leads. Throws
   * if Postgres is unavailable.
   */
  tryAcquire(): Promise<Leadership | undefined>;
  /** Returns the connection, leader or not; undefined if it is broken. */
  client(): Client | undefined;
  /** Notifies the leader that this process committed a transaction with events. */
  notifyLeader(): Promise<void>;
  /**
   * Runs a statement on the connection. Any failure closes the connection and so ends the
   * leadership.
   */
  query<Row extends QueryResultRow>(client: Client, query: QueryConfig): Promise<Row[]>;
  /** Releases everything and closes the connection. `isCleanStop` states that no send is in flight. */
  resign(isCleanStop: boolean): Promise<void>;
};

const connectTimeoutMs = 5_000;
const queryTimeoutMs = 5_000;
const closeTimeoutMs = 2_000;

type CandidateOptions = {
  databaseUrl: string;
  applicationName: string;
  log: Log;
  /** Called when this relay leads and another process notifies it of events. */
  onNotification: () => void;
  /**
   * Called on each attempt to acquire leadership, with the time of the oldest event in the outbox.
   * The same statement reads both, which saves each standby relay a round trip per second.
   */
  onOutboxChecked: (oldestAt: Date | undefined) => void;
};

/**
 * Competes for leadership with a session-level advisory lock, keyed by the schema. The lock needs a
 * dedicated connection that does not come from the pool or through a proxy in transaction pooling
 * mode. TCP keepalives let the server detect a dead peer within seconds. Without them, a dead peer
 * could hold the lock for hours.
 */
export const createCandidate = (options: CandidateOptions): Candidate => {
  /**
   * The holder name of this relay's last leadership. Each attempt uses a new name. An attempt can
   * fail after it has overwritten the name of a leader whose send is still in flight. The next
   * attempt then finds a name other than this one and waits for that send.
   */
  let lastHolderName: string | null = null;
  let client: Client | undefined;
  let leadership: Leadership | undefined;

  const clearClient = (closedClient: Client) => {
    if (client !== closedClient) return;
    client = undefined;
    leadership = undefined;
  };

  const connect = async (): Promise<Client> => {
    const newClient = createClient(options);
    newClient.on("error", (error) => {
      options.log.warn({ err: error }, "relay lost its connection to Postgres");
      clearClient(newClient);
    });
    newClient.on("end", () => clearClient(newClient));
    newClient.on("notification", options.onNotification);
    await newClient.connect();
    await query(newClient, configureSessionQuery);
    return newClient;
  };

  // Closing the session releases the lock. A connection with a hanging query could not be used
  // anyway.
  const discardClient = (brokenClient: Client) => {
    clearClient(brokenClient);
    brokenClient.end().catch(() => {});
  };

  const query: Candidate["query"] = async (connectedClient, statement) => {
    try {
      return (await connectedClient.query(statement)).rows;
    } catch (error) {
      discardClient(connectedClient);
      throw error;
    }
  };

  return {
    client: () => client,
    query,
    tryAcquire: async () => {
      if (leadership !== undefined) return leadership;
      const connectedClient = (client ??= await connect());
      const [lockRow] = await query<LockRow>(connectedClient, acquireLockQuery);
      options.onOutboxChecked(lockRow?.oldestAt ?? undefined);
      if (lockRow?.isTaken !== true) return undefined;
      const holderName = randomUUID();
      const [previousRow] = await query<{ holder: string | null }>(connectedClient, {
        ...setHolderQuery,
        values: [holderName],
      });
      await query(connectedClient, disableSynchronousCommitQuery);
      await query(connectedClient, listenQuery);
      const isHandedOver = previousRow?.holder === null || previousRow?.holder === lastHolderName;
      lastHolderName = holderName;
      leadership = { client: connectedClient, isHandedOver };
      return leadership;
    },
    notifyLeader: async () => {
      if (client !== undefined) await query(client, notifyQuery);
    },
    resign: async (isCleanStop) => {
      const closingClient = client;
      if (closingClient === undefined) return;
      if (leadership !== undefined && isCleanStop) await query(closingClient, clearHolderQuery);
      clearClient(closingClient);
      await settlesWithin(closingClient.end(), closeTimeoutMs);
    },
  };
};

const createClient = ({ applicationName, databaseUrl }: CandidateOptions): Client =>
  new Client({
    connectionString: databaseUrl,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: queryTimeoutMs,
    query_timeout: 2 * queryTimeoutMs,
    keepAlive: true,
  });

type LockRow = { isTaken: boolean; oldestAt: Date | null };

const acquireLockQuery = {
  name: "take-lock",
  text: `
    SELECT pg_try_advisory_lock(hashtextextended('outbox relay ' || current_schema(), 0))
      AS "isTaken",
      (SELECT occurred_at FROM outbox ORDER BY seq LIMIT 1) AS "oldestAt"
  `,
};

/**
 * Makes Postgres read the outbox only by index. A plan cached while the outbox was empty would scan
 * the whole table with its dead rows on every poll. Keepalives detect a dead peer within seconds.
 * All of these are session settings, because options in `DATABASE_URL` would replace connection
 * options.
 */
const configureSessionQuery = {
  text: `
    SELECT set_config('enable_seqscan', 'off', false), set_config('tcp_keepalives_idle', '5', false),
      set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '3', false)
  `,
};

/** Stores the new leader and returns the previous one. */
const setHolderQuery = {
  text: `
    UPDATE relay_lead AS now SET holder = $1 FROM relay_lead AS before
    WHERE now.is_only = before.is_only
    RETURNING before.holder
  `,
};

/**
 * Deletes of sent rows do not need to wait for the disk. After a server crash the rows reappear and
 * are sent again, and consumers skip duplicates. The holder must be durable, so it is written
 * before this setting.
 */
const disableSynchronousCommitQuery = { text: "SET synchronous_commit = off" };

/** Each schema has its own channel. It is hashed because channel names are limited to 63 bytes. */
const listenQuery = {
  text: `
    DO $$ BEGIN EXECUTE format('LISTEN %I', 'outbox ' || md5(current_schema())); END $$
  `,
};

/**
 * Postgres serializes the commits of transactions that use `NOTIFY`. Therefore the transaction that
 * wrote the events does not notify, and this statement does not wait for the disk.
 */
const notifyQuery = {
  name: "notify-leader",
  text: `
    SELECT set_config('synchronous_commit', 'off', true),
      pg_notify('outbox ' || md5(current_schema()), '')
  `,
};

const clearHolderQuery = { text: "UPDATE relay_lead SET holder = NULL" };
