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

/** A Postgres session that the simulation tracks. */
type Session = { simProcess: SimProcess; pid: number; isInTransaction: boolean };

const sessions = new WeakMap<Client, Session>();
/** The sessions that use LISTEN. Each service has its own schema and channel. */
const listeningClients = new WeakSet<Client>();
/**
 * The owner of sessions with a late commit that no process waits for. It owns them until the commit
 * is done.
 */
const lateCommitProcess: SimProcess = { name: "Postgres", isDead: false, clients: new Set() };
/** All processes that have ever had a session. */
const connectedProcesses = new Set<SimProcess>();
const pollMs = 1;
const sessionEndMsMax = 30_000;

const realSetTimeout = globalThis.setTimeout;

/** Intercepts the services' sessions. Each statement waits until the world schedules it. */
export const postgresSeam = {
  world: undefined as SimulatedWorld | undefined,
  /** The superuser's session. It monitors the other sessions. */
  monitorClient: undefined as Client | undefined,

  install: (): void => {
    Object.assign(Client.prototype, { query, connect, end });
  },

  /**
   * Returns the sessions that wait for a lock. Returns none while there is a deadlock, because
   * Postgres will cancel one of its sessions.
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

  /** Returns true if a late commit is still pending. It can hold locks. */
  hasLateCommit: (): boolean => lateCommitProcess.clients.size > 0,

  /** Cancels late commits before an action that must not run in parallel with them. */
  terminateLateCommits: (): Promise<void> => postgresSeam.terminateSessions(lateCommitProcess),

  /**
   * Terminates all sessions of a killed process. Resolves when Postgres has rolled back their work.
   */
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
  if (monitorClient === undefined) throw new Error("the monitor session is missing");
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
  throw new Error("a session did not end");
};

const getConnection = (client: Client): EventEmitter & { stream: Socket } =>
  (client as unknown as { connection: EventEmitter & { stream: Socket } }).connection;

/** Drops all data that arrives on a socket of a killed process. */
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
          // Notifications arrive when the world schedules them, not when the socket receives them.
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
          return { traceText: "no response", deliver: () => reject(createTimeoutError()) };
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

/** Schedules a notification for each listening session of the service. */
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
 * Lock names of one kind share a few locks, and most names are different each time a seed is
 * replayed. Spreads the names over more locks, so that two of them do not wait for each other by
 * chance.
 */
const spreadAdvisoryLocks = ([firstArgument, secondArgument]: unknown[], text: string): void => {
  const values =
    typeof firstArgument === "string"
      ? secondArgument
      : (firstArgument as { values?: unknown[] }).values;
  if (Array.isArray(values) && /abs\(hashtext\(name\) % \$1\)/.test(text)) values[0] = locksMax;
};

/** While a pool connects, a lost connection has no error handler and would end the process. */
const getCrashPoints = (client: Client, text: string): readonly CrashPoint[] => {
  if (client.listenerCount("error") === 0) return ["crash before", "crash after"];
  const crashPoints = ["fail before", "fail after", "crash before", "crash after"] as const;
  return text.startsWith("COMMIT") ? [...crashPoints, "late"] : crashPoints;
};

/** Returns the error of a statement timeout. */
const createTimeoutError = (): Error =>
  Object.assign(new Error("the database did not respond"), { code: "ETIMEDOUT" });

/**
 * Shorter than a statement's timeout, so that statements that wait for the commit's locks succeed.
 */
const lateMsMax = 4_000;

/** Schedules a slow commit. It takes effect later, even if its process has been killed by then. */
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
      if (!isPending) return { traceText: "canceled", deliver: () => {} };
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

/**
 * Terminates a session like a network or server failure, unless its process has already closed it.
 */
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

/**
 * Returns true if a successful statement can have released locks. Also tracks whether a transaction
 * is open.
 */
const mayReleaseLocks = (session: Session, text: string): boolean => {
  if (/^(?:START TRANSACTION|BEGIN)/.test(text)) {
    session.isInTransaction = true;
    return false;
  }
  if (/^(?:COMMIT|ROLLBACK)/.test(text)) session.isInTransaction = false;
  return !session.isInTransaction;
};
