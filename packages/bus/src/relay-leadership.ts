import { randomUUID } from "node:crypto";
import { Client, type QueryConfig, type QueryResultRow } from "pg";
import type { Log } from "@payment-links/runtime";
import { settlesWithin } from "./settles-within.ts";

/** The lead over one schema's outbox: whoever holds this connection, and nobody else, may send. */
export type Leadership = {
  /** The connection that holds the lock: what it reads, it read as the leader. */
  client: Client;
  /** Whether no send of the previous leader can be under way: it said so, or it was this relay. */
  isHandedOver: boolean;
};

/** A relay that stands for the lead of its schema's outbox. */
export type Candidate = {
  /**
   * The lead, taken now or still held; undefined while another relay has it. Throws if Postgres is
   * away.
   */
  tryAcquire(): Promise<Leadership | undefined>;
  /** The connection, leading or not; undefined if it is broken. */
  client(): Client | undefined;
  /** Tells whoever leads that a transaction with events was committed here. */
  notifyLeader(): Promise<void>;
  /**
   * Runs a statement on the connection. Any failure there costs the connection, and so the lead.
   */
  query<Row extends QueryResultRow>(client: Client, query: QueryConfig): Promise<Row[]>;
  /** Gives everything up and closes the connection; `isCleanStop` says that no send is under way. */
  resign(isCleanStop: boolean): Promise<void>;
};

const connectTimeoutMs = 5_000;
const queryTimeoutMs = 5_000;
const closeTimeoutMs = 2_000;

type CandidateOptions = {
  databaseUrl: string;
  applicationName: string;
  log: Log;
  /** Called where this one leads and another tells it of events. */
  onNotification: () => void;
  /**
   * Called at each try for the lead with when the oldest event in the outbox occurred. A statement of
   * its own for that would cost every relay that stands by a round trip a second.
   */
  onOutboxChecked: (oldestAt: Date | undefined) => void;
};

/**
 * Stands for the lead by an advisory lock of the session, keyed by the schema. Session locks need a
 * connection of their own: neither from the pool nor through a proxy that pools transactions. The
 * server is told to notice a dead peer within seconds; otherwise its lock would be held for hours.
 */
export const createCandidate = (options: CandidateOptions): Candidate => {
  /**
   * As whom it led last. Each try has a name of its own: one that broke off may have written it over
   * that of a leader whose send is still under way, and who finds it must wait for that one.
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
      options.log.warn({ err: error }, "the relay lost its connection to Postgres");
      clearClient(newClient);
    });
    newClient.on("end", () => clearClient(newClient));
    newClient.on("notification", options.onNotification);
    await newClient.connect();
    await query(newClient, configureSessionQuery);
    return newClient;
  };

  // The session's end gives the lock back, and a connection with a hung query is of no use.
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
 * The outbox is read by its index only: a plan cached while it was empty would read the whole table
 * with its dead rows at every look (measured: five times as slow after a minute of load). A dead peer is
 * noticed within seconds. Neither is an option of the connection: those in `DATABASE_URL` take their place.
 */
const configureSessionQuery = {
  text: `
    SELECT set_config('enable_seqscan', 'off', false), set_config('tcp_keepalives_idle', '5', false),
      set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '3', false)
  `,
};

/** Writes who leads now and answers who led before. */
const setHolderQuery = {
  text: `
    UPDATE relay_lead AS now SET holder = $1 FROM relay_lead AS before
    WHERE now.is_only = before.is_only
    RETURNING before.holder
  `,
};

/**
 * Deleting what was sent need not wait for the disk: after a crash of the server the rows are back
 * and sent again, and consumers know repeats. Who leads does wait for it, and so comes before this.
 */
const disableSynchronousCommitQuery = { text: "SET synchronous_commit = off" };

/** Each schema has a channel of its own. A longer name than 63 bytes would be none. */
const listenQuery = {
  text: `
    DO $$ BEGIN EXECUTE format('LISTEN %I', 'outbox ' || md5(current_schema())); END $$
  `,
};

/**
 * Postgres lets one transaction at a time commit that notifies. So it is never the one that wrote the
 * events, and this one does not wait for the disk.
 */
const notifyQuery = {
  name: "tell-leader",
  text: `
    SELECT set_config('synchronous_commit', 'off', true),
      pg_notify('outbox ' || md5(current_schema()), '')
  `,
};

const clearHolderQuery = { text: "UPDATE relay_lead SET holder = NULL" };
