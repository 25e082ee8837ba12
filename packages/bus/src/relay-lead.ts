import { randomUUID } from "node:crypto";
import { Client, type QueryConfig, type QueryResultRow } from "pg";
import type { Log } from "@payment-links/runtime";
import { endsWithin } from "./ends-within.ts";

/** The lead over one schema's outbox: whoever holds this connection, and nobody else, may send. */
export type Lead = {
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
  take(): Promise<Lead | undefined>;
  /** The connection, leading or not; undefined if it is broken. */
  client(): Client | undefined;
  /** Tells whoever leads that a transaction with events was committed here. */
  tellLeader(): Promise<void>;
  /**
   * Runs a statement on the connection. Any failure there costs the connection, and so the lead.
   */
  query<Row extends QueryResultRow>(client: Client, query: QueryConfig): Promise<Row[]>;
  /** Gives everything up and closes the connection; `isClean` says that no send is under way. */
  leave(isClean: boolean): Promise<void>;
};

const connectTimeoutMs = 5_000;
const queryTimeoutMs = 5_000;
const endTimeoutMs = 2_000;

type CandidateOptions = {
  databaseUrl: string;
  applicationName: string;
  log: Log;
  /** Called where this one leads and another tells it of events. */
  told: () => void;
  /**
   * Called at each try for the lead with when the oldest event in the outbox occurred. A statement of
   * its own for that would cost every relay that stands by a round trip a second.
   */
  looked: (oldestAt: Date | undefined) => void;
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
  let ledAs: string | null = null;
  let client: Client | undefined;
  let lead: Lead | undefined;

  const forget = (gone: Client) => {
    if (client !== gone) return;
    client = undefined;
    lead = undefined;
  };

  const connect = async (): Promise<Client> => {
    const fresh = createClient(options);
    fresh.on("error", (error) => {
      options.log.warn({ err: error }, "the relay lost its connection to Postgres");
      forget(fresh);
    });
    fresh.on("end", () => forget(fresh));
    fresh.on("notification", options.told);
    await fresh.connect();
    await query(fresh, setUpSession);
    return fresh;
  };

  // The session's end gives the lock back, and a connection with a hung query is of no use.
  const drop = (broken: Client) => {
    forget(broken);
    broken.end().catch(() => {});
  };

  const query: Candidate["query"] = async (held, statement) => {
    try {
      return (await held.query(statement)).rows;
    } catch (error) {
      drop(held);
      throw error;
    }
  };

  return {
    client: () => client,
    query,
    take: async () => {
      if (lead !== undefined) return lead;
      const held = (client ??= await connect());
      const [answer] = await query<Answer>(held, takeLock);
      options.looked(answer?.oldestAt ?? undefined);
      if (answer?.isTaken !== true) return undefined;
      const name = randomUUID();
      const [before] = await query<{ holder: string | null }>(held, {
        ...setHolder,
        values: [name],
      });
      await query(held, prepareSession);
      await query(held, listen);
      const isHandedOver = before?.holder === null || before?.holder === ledAs;
      ledAs = name;
      lead = { client: held, isHandedOver };
      return lead;
    },
    tellLeader: async () => {
      if (client !== undefined) await query(client, notify);
    },
    leave: async (isClean) => {
      const leaving = client;
      if (leaving === undefined) return;
      if (lead !== undefined && isClean) await query(leaving, clearHolder);
      forget(leaving);
      await endsWithin(leaving.end(), endTimeoutMs);
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

type Answer = { isTaken: boolean; oldestAt: Date | null };

const takeLock = {
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
const setUpSession = {
  text: `
    SELECT set_config('enable_seqscan', 'off', false), set_config('tcp_keepalives_idle', '5', false),
      set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '3', false)
  `,
};

/** Writes who leads now and answers who led before. */
const setHolder = {
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
const prepareSession = { text: "SET synchronous_commit = off" };

/** Each schema has a channel of its own. A longer name than 63 bytes would be none. */
const listen = {
  text: `
    DO $$ BEGIN EXECUTE format('LISTEN %I', 'outbox ' || md5(current_schema())); END $$
  `,
};

/**
 * Postgres lets one transaction at a time commit that notifies. So it is never the one that wrote the
 * events, and this one does not wait for the disk.
 */
const notify = {
  name: "tell-leader",
  text: `
    SELECT set_config('synchronous_commit', 'off', true),
      pg_notify('outbox ' || md5(current_schema()), '')
  `,
};

const clearHolder = { text: "UPDATE relay_lead SET holder = NULL" };
