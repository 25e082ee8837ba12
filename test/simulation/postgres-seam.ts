import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { Client } from "pg";
import {
  type PendingAction,
  type CrashPoint,
  type ActionResult,
  type SimProcess,
  type LockWait,
  type SimulatedWorld,
  currentProcess,
  waitForever,
} from "./simulated-world.ts";

type QueryFunction = (this: Client, ...args: unknown[]) => Promise<QueryResult>;
type Row = { pid: number; blockedBy?: readonly number[]; isForRow?: boolean };
type QueryResult = { rowCount: number | null; rows: Row[] };
type SessionFunction = (this: Client) => Promise<void>;

const prototype = Object.create(Client.prototype) as Readonly<Record<string, unknown>>;

const originals = {
  query: prototype["query"] as QueryFunction,
  connect: prototype["connect"] as SessionFunction,
  end: prototype["end"] as SessionFunction,
};

/** A session as it is seen from here. */
type Session = { simProcess: SimProcess; pid: number; isInTransaction: boolean };

const sessions = new WeakMap<Client, Session>();
/** The sessions that listen: each service has a schema and a channel of its own. */
const listeningClients = new WeakSet<Client>();
/** Whose sessions those are whose commit nobody waits for any more, until they have committed. */
const lateCommitProcess: SimProcess = { name: "Postgres", isDead: false, clients: new Set() };
/** All processes that have had a session. */
const connectedProcesses = new Set<SimProcess>();
const pollMs = 1;
const sessionEndMsMax = 30_000;

const realSetTimeout = globalThis.setTimeout;

/** Between the services' code and their sessions: each statement waits for the world's leave. */
export const postgresSeam = {
  world: undefined as SimulatedWorld | undefined,
  /** The superuser's session, by which the world looks at the others. */
  monitorClient: undefined as Client | undefined,

  install: (): void => {
    Object.assign(Client.prototype, { query, connect, end });
  },

  /**
   * Which sessions wait for a lock, where each of them waits for one that does not: of those that wait
   * for one another Postgres will end one.
   */
  findBlockedSessions: async (): Promise<ReadonlyMap<number, LockWait>> => {
    const rows = await queryAsMonitor(
      `SELECT pid, pg_blocking_pids(pid) AS "blockedBy", bool_or(locktype <> 'advisory') AS "isForRow"
       FROM pg_locks WHERE NOT granted AND waitstart < clock_timestamp() - interval '5 milliseconds'
       GROUP BY pid`,
    );
    const blockedSessions = new Map(
      rows.map(({ pid, blockedBy = [], isForRow = false }) => [pid, { blockedBy, isForRow }]),
    );
    const deadlocked = new Map(blockedSessions);
    for (let sizeBefore = -1; sizeBefore !== deadlocked.size;) {
      sizeBefore = deadlocked.size;
      for (const [pid, { blockedBy }] of deadlocked) {
        if (blockedBy.every((otherPid) => !deadlocked.has(otherPid))) deadlocked.delete(pid);
      }
    }
    return deadlocked.size > 0 ? new Map() : blockedSessions;
  },

  /** Whether some commit, whose locks others may wait for, is yet to take effect. */
  hasLateCommit: (): boolean => lateCommitProcess.clients.size > 0,

  /** Ends what is yet to be committed: before whatever nobody could do beside it. */
  terminateLateCommits: (): Promise<void> => postgresSeam.terminateSessions(lateCommitProcess),

  /** Cuts all sessions of a process that was killed; ends once Postgres has undone their work. */
  terminateSessions: async (simProcess: SimProcess): Promise<void> => {
    for (const client of simProcess.clients) {
      detachSocket(client);
      await terminateBackend(getPid(client));
    }
    simProcess.clients.clear();
    postgresSeam.world?.markLocksReleased();
  },
};

const queryAsMonitor = async (text: string, values: unknown[] = []): Promise<Row[]> => {
  const { monitorClient } = postgresSeam;
  if (monitorClient === undefined) throw new Error("nobody looks at the sessions");
  return (await originals.query.call(monitorClient, text, values)).rows;
};

const getPid = (client: Client): number => (client as unknown as { processID: number }).processID;

const terminateBackend = async (pid: number): Promise<void> => {
  await queryAsMonitor("SELECT pg_terminate_backend($1)", [pid]);
  await waitUntilGone(pid);
};

const waitUntilGone = async (pid: number): Promise<void> => {
  const deadlineMs = performance.now() + sessionEndMsMax;
  while (performance.now() < deadlineMs) {
    const rows = await queryAsMonitor("SELECT FROM pg_stat_get_activity($1)", [pid]);
    if (rows.length === 0) return;
    await new Promise((resolve) => {
      realSetTimeout(resolve, pollMs);
    });
  }
  throw new Error("a session does not end");
};

const getConnection = (client: Client): EventEmitter & { stream: Socket } =>
  (client as unknown as { connection: EventEmitter & { stream: Socket } }).connection;

/** What comes over a socket of a process that is no more reaches nobody. */
const detachSocket = (client: Client): void => {
  const { stream } = getConnection(client);
  for (const name of ["data", "error", "end", "close"]) stream.removeAllListeners(name);
  stream.on("error", () => {});
  stream.destroy();
};

const settings = `
  SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0
`;

function connect(this: Client): Promise<void> {
  const simProcess = currentProcess();
  const { world } = postgresSeam;
  if (simProcess === undefined || world === undefined) return originals.connect.call(this);
  if (simProcess.isDead) return waitForever();
  return new Promise((resolve, reject) => {
    world.schedule({
      simProcess,
      kind: "connect",
      description: "",
      crashPoints: ["crash before"],
      perform: async (): Promise<ActionResult> => {
        try {
          await originals.connect.call(this);
          await originals.query.call(this, settings);
          // What others tell comes when the world lets it, not when the socket brings it.
          getConnection(this).removeAllListeners("notification");
          connectedProcesses.add(simProcess);
          sessions.set(this, { simProcess, pid: getPid(this), isInTransaction: false });
          simProcess.clients.add(this);
          this.once("end", () => simProcess.clients.delete(this));
          return { traceText: "ok", deliver: resolve };
        } catch (error) {
          return { traceText: "failed", deliver: () => reject(error) };
        }
      },
    });
  });
}

function query(this: Client, ...args: unknown[]): Promise<unknown> {
  const session = sessions.get(this);
  const { world } = postgresSeam;
  if (session === undefined || world === undefined) return originals.query.apply(this, args);
  const { simProcess, pid } = session;
  if (simProcess.isDead) return waitForever();
  if (lateCommitProcess.clients.has(this)) return Promise.reject(createTimeoutError());
  const text = getQueryText(args);
  spreadAdvisoryLocks(args, text);
  return new Promise((resolve, reject) => {
    world.schedule({
      simProcess,
      kind: "sql",
      description: text,
      crashPoints: getCrashPoints(this, text),
      pid: () => pid,
      cancel: () => queryAsMonitor("SELECT pg_cancel_backend($1)", [pid]),
      perform: async (crashPoint: CrashPoint): Promise<ActionResult> => {
        if (crashPoint === "late") {
          simProcess.clients.delete(this);
          scheduleLateCommit(world, this, args);
          return { traceText: "silence", deliver: () => reject(createTimeoutError()) };
        }
        if (crashPoint === "fail before") await dropSession(this, simProcess, pid);
        const actionResult = await originals.query.apply(this, args).then(
          (queryResult) => {
            if (/\bLISTEN\b/.test(text)) listeningClients.add(this);
            if (/\bpg_notify\b/.test(text)) notifyListeners(world, simProcess);
            return {
              traceText: `${queryResult.rowCount ?? "ok"}`,
              releasesLocks: mayReleaseLocks(session, text),
              deliver: () => resolve(queryResult),
            };
          },
          (error: unknown) => {
            session.isInTransaction = !/^ROLLBACK|^COMMIT/.test(text) && session.isInTransaction;
            return {
              traceText: describeError(error),
              releasesLocks: true,
              deliver: () => reject(error),
            };
          },
        );
        if (crashPoint !== "fail after") return actionResult;
        await dropSession(this, simProcess, pid);
        const error = new Error("Connection terminated unexpectedly");
        return {
          traceText: `${actionResult.traceText}, lost`,
          releasesLocks: true,
          deliver: () => reject(error),
        };
      },
    });
  });
}

const getServiceName = ({ name }: SimProcess): string => name.split(" ", 1)[0] ?? "";

/** A notification reaches each session of the service that listens, some time later. */
const notifyListeners = (world: SimulatedWorld, notifyingProcess: SimProcess): void => {
  for (const simProcess of connectedProcesses) {
    if (simProcess.isDead) connectedProcesses.delete(simProcess);
    if (simProcess.isDead || getServiceName(simProcess) !== getServiceName(notifyingProcess))
      continue;
    for (const client of simProcess.clients) {
      if (!listeningClients.has(client)) continue;
      world.schedule({
        simProcess,
        kind: "notification",
        description: "",
        crashPoints: ["crash before"],
        perform: () =>
          Promise.resolve({ traceText: "ok", deliver: () => client.emit("notification", {}) }),
      });
    }
  }
};

const locksMax = 2 ** 31 - 1;

/**
 * Names of one kind share a few locks, and most names are drawn anew each time that a seed is played:
 * two must not wait for each other by chance.
 */
const spreadAdvisoryLocks = ([firstArgument, secondArgument]: unknown[], text: string): void => {
  const values =
    typeof firstArgument === "string"
      ? secondArgument
      : (firstArgument as { values?: unknown[] }).values;
  if (Array.isArray(values) && /abs\(hashtext\(name\) % \$1\)/.test(text)) values[0] = locksMax;
};

/** Nobody hears of a lost connection while a pool is opened: there it ends the process. */
const getCrashPoints = (client: Client, text: string): readonly CrashPoint[] => {
  if (client.listenerCount("error") === 0) return ["crash before", "crash after"];
  const crashPoints = ["fail before", "fail after", "crash before", "crash after"] as const;
  return text.startsWith("COMMIT") ? [...crashPoints, "late"] : crashPoints;
};

/** What the deadline of a statement says. */
const createTimeoutError = (): Error =>
  Object.assign(new Error("the database was silent"), { code: "ETIMEDOUT" });

/** Less than a statement waits: whoever waits for this one's locks gets them. */
const lateMsMax = 4_000;

/** Postgres has the commit, and is slow: it takes effect some time later, whoever lives by then. */
const scheduleLateCommit = (world: SimulatedWorld, client: Client, args: unknown[]): void => {
  const pid = getPid(client);
  lateCommitProcess.clients.add(client);
  const action: PendingAction = {
    simProcess: lateCommitProcess,
    kind: "late commit",
    description: "",
    crashPoints: [],
    pid: () => pid,
    perform: async (): Promise<ActionResult> => {
      const isPending = lateCommitProcess.clients.delete(client);
      if (!isPending) return { traceText: "cut", deliver: () => {} };
      const traceText = await originals.query.apply(client, args).then(() => "ok", describeError);
      await originals.end.call(client);
      await waitUntilGone(pid);
      return { traceText, releasesLocks: true, deliver: () => {} };
    },
  };
  const dueMs = world.nowMs() + 1 + world.random.below(lateMsMax);
  world.addTimer(lateCommitProcess, dueMs, () => world.schedule(action));
};

async function end(this: Client): Promise<void> {
  const session = sessions.get(this);
  const { world } = postgresSeam;
  if (session === undefined || world === undefined) return originals.end.call(this);
  if (session.simProcess.isDead) return waitForever();
  if (lateCommitProcess.clients.has(this)) return;
  await world.pauseWhile(async () => {
    await originals.end.call(this);
    await waitUntilGone(session.pid);
  });
  world.markLocksReleased();
}

/** The session ends, as where the network or the server fails, unless its own process has ended it before. */
const dropSession = async (client: Client, { clients }: SimProcess, pid: number): Promise<void> => {
  if (!clients.has(client)) return;
  const endPromise = new Promise((resolve) => {
    client.once("end", resolve);
  });
  await terminateBackend(pid);
  await endPromise;
};

const textCharactersMax = 90;

const getQueryText = ([firstArgument]: unknown[]): string => {
  const text =
    typeof firstArgument === "string" ? firstArgument : (firstArgument as { text: string }).text;
  return text.replaceAll(/\s+/g, " ").trim().slice(0, textCharactersMax);
};

const describeError = (error: unknown): string => {
  const { code, message } = error as { code?: string; message: string };
  return code ?? message.slice(0, 60);
};

/** Whether a statement that succeeded may have let go of locks; keeps whether a transaction is open. */
const mayReleaseLocks = (session: Session, text: string): boolean => {
  if (/^(?:START TRANSACTION|BEGIN)/.test(text)) {
    session.isInTransaction = true;
    return false;
  }
  if (/^(?:COMMIT|ROLLBACK)/.test(text)) session.isInTransaction = false;
  return !session.isInTransaction;
};
