import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { Client } from "pg";
import {
  type Act,
  type Fate,
  type Outcome,
  type Owner,
  type Wait,
  type World,
  currentOwner,
  never,
} from "./world.ts";

type Query = (this: Client, ...args: unknown[]) => Promise<Result>;
type Row = { pid: number; blockedBy?: readonly number[]; isForRow?: boolean };
type Result = { rowCount: number | null; rows: Row[] };
type Plain = (this: Client) => Promise<void>;

const prototype = Object.create(Client.prototype) as Readonly<Record<string, unknown>>;

const real = {
  query: prototype["query"] as Query,
  connect: prototype["connect"] as Plain,
  end: prototype["end"] as Plain,
};

/** A session as it is seen from here. */
type Session = { owner: Owner; pid: number; isInTransaction: boolean };

const sessions = new WeakMap<Client, Session>();
/** The sessions that listen: each service has a schema and a channel of its own. */
const listening = new WeakSet<Client>();
/** Whose sessions those are whose commit nobody waits for any more, until they have committed. */
const postgres: Owner = { name: "Postgres", isDead: false, clients: new Set() };
/** All processes that have had a session. */
const owners = new Set<Owner>();
const pollMs = 1;
const goneMsMax = 30_000;

const wait = globalThis.setTimeout;

/** Between the services' code and their sessions: each statement waits for the world's leave. */
export const postgresSeam = {
  world: undefined as World | undefined,
  /** The superuser's session, by which the world looks at the others. */
  lookout: undefined as Client | undefined,

  install: (): void => {
    Object.assign(Client.prototype, { query, connect, end });
  },

  /**
   * Which sessions wait for a lock, where each of them waits for one that does not: of those that wait
   * for one another Postgres will end one.
   */
  findWaiting: async (): Promise<ReadonlyMap<number, Wait>> => {
    const rows = await ask(
      `SELECT pid, pg_blocking_pids(pid) AS "blockedBy", bool_or(locktype <> 'advisory') AS "isForRow"
       FROM pg_locks WHERE NOT granted AND waitstart < clock_timestamp() - interval '5 milliseconds'
       GROUP BY pid`,
    );
    const found = new Map(
      rows.map(({ pid, blockedBy = [], isForRow = false }) => [pid, { blockedBy, isForRow }]),
    );
    const waiting = new Map(found);
    for (let before = -1; before !== waiting.size;) {
      before = waiting.size;
      for (const [pid, { blockedBy }] of waiting) {
        if (blockedBy.every((other) => !waiting.has(other))) waiting.delete(pid);
      }
    }
    return waiting.size > 0 ? new Map() : found;
  },

  /** Whether some commit, whose locks others may wait for, is yet to take effect. */
  isLate: (): boolean => postgres.clients.size > 0,

  /** Ends what is yet to be committed: before whatever nobody could do beside it. */
  cutLate: (): Promise<void> => postgresSeam.cut(postgres),

  /** Cuts all sessions of a process that was killed; ends once Postgres has undone their work. */
  cut: async (owner: Owner): Promise<void> => {
    for (const client of owner.clients) {
      silence(client);
      await terminate(pidOf(client));
    }
    owner.clients.clear();
    postgresSeam.world?.released();
  },
};

const ask = async (text: string, values: unknown[] = []): Promise<Row[]> => {
  const { lookout } = postgresSeam;
  if (lookout === undefined) throw new Error("nobody looks at the sessions");
  return (await real.query.call(lookout, text, values)).rows;
};

const pidOf = (client: Client): number => (client as unknown as { processID: number }).processID;

const terminate = async (pid: number): Promise<void> => {
  await ask("SELECT pg_terminate_backend($1)", [pid]);
  await untilGone(pid);
};

const untilGone = async (pid: number): Promise<void> => {
  const until = performance.now() + goneMsMax;
  while (performance.now() < until) {
    const rows = await ask("SELECT FROM pg_stat_get_activity($1)", [pid]);
    if (rows.length === 0) return;
    await new Promise((resolve) => {
      wait(resolve, pollMs);
    });
  }
  throw new Error("a session does not end");
};

const connectionOf = (client: Client): EventEmitter & { stream: Socket } =>
  (client as unknown as { connection: EventEmitter & { stream: Socket } }).connection;

/** What comes over a socket of a process that is no more reaches nobody. */
const silence = (client: Client): void => {
  const { stream } = connectionOf(client);
  for (const name of ["data", "error", "end", "close"]) stream.removeAllListeners(name);
  stream.on("error", () => {});
  stream.destroy();
};

const settings = `
  SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0
`;

function connect(this: Client): Promise<void> {
  const owner = currentOwner();
  const { world } = postgresSeam;
  if (owner === undefined || world === undefined) return real.connect.call(this);
  if (owner.isDead) return never();
  return new Promise((resolve, reject) => {
    world.park({
      owner,
      kind: "connect",
      what: "",
      fates: ["crash before"],
      perform: async (): Promise<Outcome> => {
        try {
          await real.connect.call(this);
          await real.query.call(this, settings);
          // What others tell comes when the world lets it, not when the socket brings it.
          connectionOf(this).removeAllListeners("notification");
          owners.add(owner);
          sessions.set(this, { owner, pid: pidOf(this), isInTransaction: false });
          owner.clients.add(this);
          this.once("end", () => owner.clients.delete(this));
          return { word: "ok", deliver: resolve };
        } catch (error) {
          return { word: "failed", deliver: () => reject(error) };
        }
      },
    });
  });
}

function query(this: Client, ...args: unknown[]): Promise<unknown> {
  const session = sessions.get(this);
  const { world } = postgresSeam;
  if (session === undefined || world === undefined) return real.query.apply(this, args);
  const { owner, pid } = session;
  if (owner.isDead) return never();
  if (postgres.clients.has(this)) return Promise.reject(silent());
  const text = textOf(args);
  unshareLocks(args, text);
  return new Promise((resolve, reject) => {
    world.park({
      owner,
      kind: "sql",
      what: text,
      fates: fatesOf(this, text),
      pid: () => pid,
      cancel: () => ask("SELECT pg_cancel_backend($1)", [pid]),
      perform: async (fate: Fate): Promise<Outcome> => {
        if (fate === "late") {
          owner.clients.delete(this);
          commitLate(world, this, args);
          return { word: "silence", deliver: () => reject(silent()) };
        }
        if (fate === "fail before") await lose(this, owner, pid);
        const outcome = await real.query.apply(this, args).then(
          (result) => {
            if (/\bLISTEN\b/.test(text)) listening.add(this);
            if (/\bpg_notify\b/.test(text)) tellListening(world, owner);
            return {
              word: `${result.rowCount ?? "ok"}`,
              releases: isRelease(session, text),
              deliver: () => resolve(result),
            };
          },
          (error: unknown) => {
            session.isInTransaction = !/^ROLLBACK|^COMMIT/.test(text) && session.isInTransaction;
            return { word: wordOf(error), releases: true, deliver: () => reject(error) };
          },
        );
        if (fate !== "fail after") return outcome;
        await lose(this, owner, pid);
        const error = new Error("Connection terminated unexpectedly");
        return { word: `${outcome.word}, lost`, releases: true, deliver: () => reject(error) };
      },
    });
  });
}

const serviceOf = ({ name }: Owner): string => name.split(" ", 1)[0] ?? "";

/** A notification reaches each session of the service that listens, some time later. */
const tellListening = (world: World, from: Owner): void => {
  for (const owner of owners) {
    if (owner.isDead) owners.delete(owner);
    if (owner.isDead || serviceOf(owner) !== serviceOf(from)) continue;
    for (const client of owner.clients) {
      if (!listening.has(client)) continue;
      world.park({
        owner,
        kind: "notification",
        what: "",
        fates: ["crash before"],
        perform: () =>
          Promise.resolve({ word: "ok", deliver: () => client.emit("notification", {}) }),
      });
    }
  }
};

const locksMax = 2 ** 31 - 1;

/**
 * Names of one kind share a few locks, and most names are drawn anew each time that a seed is played:
 * two must not wait for each other by chance.
 */
const unshareLocks = ([first, second]: unknown[], text: string): void => {
  const values = typeof first === "string" ? second : (first as { values?: unknown[] }).values;
  if (Array.isArray(values) && /abs\(hashtext\(name\) % \$1\)/.test(text)) values[0] = locksMax;
};

/** Nobody hears of a lost connection while a pool is opened: there it ends the process. */
const fatesOf = (client: Client, text: string): readonly Fate[] => {
  if (client.listenerCount("error") === 0) return ["crash before", "crash after"];
  const fates = ["fail before", "fail after", "crash before", "crash after"] as const;
  return text.startsWith("COMMIT") ? [...fates, "late"] : fates;
};

/** What the deadline of a statement says. */
const silent = (): Error =>
  Object.assign(new Error("the database was silent"), { code: "ETIMEDOUT" });

/** Less than a statement waits: whoever waits for this one's locks gets them. */
const lateMsMax = 4_000;

/** Postgres has the commit, and is slow: it takes effect some time later, whoever lives by then. */
const commitLate = (world: World, client: Client, args: unknown[]): void => {
  const pid = pidOf(client);
  postgres.clients.add(client);
  const act: Act = {
    owner: postgres,
    kind: "late commit",
    what: "",
    fates: [],
    pid: () => pid,
    perform: async (): Promise<Outcome> => {
      const isThere = postgres.clients.delete(client);
      if (!isThere) return { word: "cut", deliver: () => {} };
      const word = await real.query.apply(client, args).then(() => "ok", wordOf);
      await real.end.call(client);
      await untilGone(pid);
      return { word, releases: true, deliver: () => {} };
    },
  };
  const dueMs = world.nowMs() + 1 + world.random.below(lateMsMax);
  world.addTimer(postgres, dueMs, () => world.park(act));
};

async function end(this: Client): Promise<void> {
  const session = sessions.get(this);
  const { world } = postgresSeam;
  if (session === undefined || world === undefined) return real.end.call(this);
  if (session.owner.isDead) return never();
  if (postgres.clients.has(this)) return;
  await world.during(async () => {
    await real.end.call(this);
    await untilGone(session.pid);
  });
  world.released();
}

/** The session ends, as where the network or the server fails, unless its own process has ended it before. */
const lose = async (client: Client, { clients }: Owner, pid: number): Promise<void> => {
  if (!clients.has(client)) return;
  const ended = new Promise((resolve) => {
    client.once("end", resolve);
  });
  await terminate(pid);
  await ended;
};

const textCharactersMax = 90;

const textOf = ([first]: unknown[]): string => {
  const text = typeof first === "string" ? first : (first as { text: string }).text;
  return text.replaceAll(/\s+/g, " ").trim().slice(0, textCharactersMax);
};

const wordOf = (error: unknown): string => {
  const { code, message } = error as { code?: string; message: string };
  return code ?? message.slice(0, 60);
};

/** Whether a statement that succeeded may have let go of locks; keeps whether a transaction is open. */
const isRelease = (session: Session, text: string): boolean => {
  if (/^(?:START TRANSACTION|BEGIN)/.test(text)) {
    session.isInTransaction = true;
    return false;
  }
  if (/^(?:COMMIT|ROLLBACK)/.test(text)) session.isInTransaction = false;
  return !session.isInTransaction;
};
