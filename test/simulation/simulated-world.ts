import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import type { Client } from "pg";
import type { Clock } from "@payment-links/runtime";
import type { Random } from "./random.ts";

/** A simulated process. Every intercepted call belongs to one. */
export type SimProcess = { name: string; isDead: boolean; clients: Set<Client> };

/** What happens to an action. Each seam implements this. */
export type CrashPoint =
  | "pass"
  | "fail before"
  | "fail after"
  | "crash before"
  | "crash after"
  | "late";

/** An action that runs when the scheduler picks it. */
export type PendingAction = {
  simProcess: SimProcess | undefined;
  kind: string;
  /**
   * The text for the trace. It must not contain values that the seed does not determine, such as
   * IDs.
   */
  description: string;
  crashPoints: readonly CrashPoint[];
  /**
   * Returns the backend process ID of a statement's session, because the statement can wait for a
   * lock.
   */
  pid?: () => number;
  /** Cancels this wait, as a statement timeout does. */
  cancel?: () => Promise<unknown>;
  /** Performs the action. Returns a text for the trace, and a function that delivers the result later. */
  perform: (crashPoint: CrashPoint) => Promise<ActionResult>;
};

/** `releasesLocks` is true if other actions could have waited for this one. */
export type ActionResult = { traceText: string; deliver: () => void; releasesLocks?: boolean };

type StartedAction = {
  action: PendingAction;
  number: number;
  result: ActionResult | undefined;
  completion: Promise<void>;
};

type Timer = { atMs: number; simProcess: SimProcess; fire: () => void };

/** The process whose code is running. */
const processStorage = new AsyncLocalStorage<SimProcess>();

/** Returns the simulated process whose code is currently running, if any. */
export const currentProcess = (): SimProcess | undefined => processStorage.getStore();

/** Runs code as a simulated process. */
export const runAs = <Result>(simProcess: SimProcess, work: () => Result): Result =>
  processStorage.run(simProcess, work);

/** Returns a promise that never settles, for the code of a killed process. */
export const waitForever = <T>(): Promise<T> => new Promise<T>(() => {});

/** The original functions. They are saved before they are replaced. */
const { setImmediate: realImmediate, setTimeout: realTimeout } = globalThis;

const idleTurns = 4;
const lockCheckMsMin = 2;
const stuckMsMax = 60_000;
const traceLinesMax = 400;

/** A session's wait for a row lock or an advisory lock. */
export type LockWait = { blockedBy: readonly number[]; isForRow: boolean };

/** Returns the backends that have waited for a lock long enough to rule out a deadlock. */
export type FindBlockedSessions = () => Promise<ReadonlyMap<number, LockWait>>;

export type SimulatedWorld = ReturnType<typeof createSimulatedWorld>;

/**
 * Creates the scheduler of all events. The product's code runs until each part of it waits for the
 * world, for example for a statement, a timer or a response. Then the scheduler picks and performs
 * one pending action, and the code continues. Actions do not run in parallel, and the seed
 * determines their order.
 */
export const createSimulatedWorld = (
  random: Random,
  startedAt: Date,
  onTraceLine: (line: string) => void = () => {},
) => {
  let nowMs = startedAt.getTime();
  let activityCount = 0;
  let steps = 0;
  const externalWork = new Set<Promise<unknown>>();
  let hasReleasedLocks = false;
  /**
   * The usual duration of an action on this machine, which can be busy. Lock checks wait for a
   * multiple of this duration.
   */
  let usualActionMs = 1;
  const pendingActions = new Set<PendingAction>();
  const timers = new Set<Timer>();
  const startedActions = new Set<StartedAction>();
  const digest = createHash("sha256");
  const traceLines: string[] = [];
  const counts = new Map<string, number>();
  let findBlockedSessions: FindBlockedSessions = async () => new Map();

  const count = (event: string, increment = 1): void => {
    counts.set(event, (counts.get(event) ?? 0) + increment);
  };

  const trace = (message: string): void => {
    const stampedLine = `${steps} ${nowMs - startedAt.getTime()} ${message}`;
    digest.update(`${stampedLine}\n`);
    onTraceLine(stampedLine);
    traceLines.push(stampedLine);
    if (traceLines.length > traceLinesMax) traceLines.shift();
  };

  const sleepReal = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      realTimeout(resolve, ms);
    });

  /** Resolves when all code waits for the world. */
  const waitUntilIdle = async (): Promise<void> => {
    for (let turns = 0; turns < idleTurns; turns += 1) {
      const activityBefore = activityCount;
      await new Promise((resolve) => {
        realImmediate(resolve);
      });
      const isBusy = externalWork.size > 0;
      if (isBusy) await Promise.allSettled(externalWork);
      if (activityBefore !== activityCount || isBusy) turns = -1;
    }
  };

  const schedule = (action: PendingAction): void => {
    activityCount += 1;
    if (action.simProcess?.isDead !== true) pendingActions.add(action);
  };

  const addTimer = (simProcess: SimProcess, atMs: number, fire: () => void): Timer => {
    activityCount += 1;
    const timer = { atMs, simProcess, fire: AsyncLocalStorage.bind(fire) };
    timers.add(timer);
    return timer;
  };

  const fireTimer = (timer: Timer): void => {
    timers.delete(timer);
    timer.fire();
  };

  /** Returns the pending actions and due timers that can run next. */
  const listRunnable = (): readonly (PendingAction | Timer)[] => [
    ...pendingActions,
    ...[...timers].filter((timer) => timer.atMs <= nowMs),
  ];

  const isFinished = (startedAction: StartedAction): boolean => startedAction.result !== undefined;

  /** Waits until each running statement has finished or waits for a lock. */
  const waitUntilDoneOrBlocked = async (
    actionsToAwait: readonly StartedAction[],
  ): Promise<void> => {
    const deadlineMs = performance.now() + stuckMsMax;
    for (let waitMs = Math.max(lockCheckMsMin, usualActionMs * 4); ; waitMs *= 2) {
      const unfinished = actionsToAwait.filter(
        (startedAction) =>
          !isFinished(startedAction) && startedAction.action.simProcess?.isDead !== true,
      );
      if (unfinished.length === 0) return;
      await Promise.race([
        ...unfinished.map((startedAction) => startedAction.completion),
        sleepReal(waitMs),
      ]);
      const stillUnfinished = unfinished.filter((startedAction) => !isFinished(startedAction));
      if (stillUnfinished.length === 0) continue;
      const areStatements = stillUnfinished.every(({ action }) => action.pid !== undefined);
      const blockedSessions = areStatements
        ? await findBlockedSessions()
        : new Map<number, LockWait>();
      const isBlocked = ({ action }: StartedAction) =>
        action.pid !== undefined && blockedSessions.has(action.pid());
      if (
        stillUnfinished.every(
          (startedAction) => isFinished(startedAction) || isBlocked(startedAction),
        )
      )
        return;
      if (performance.now() > deadlineMs)
        throw new Error(`stuck: ${stillUnfinished[0]?.action.description ?? ""}`);
    }
  };

  /**
   * Delivering a result can end a session. Other actions can be waiting for the locks of this
   * session.
   */
  const waitAfterLockRelease = async (): Promise<void> => {
    if (hasReleasedLocks) await waitUntilDoneOrBlocked([...startedActions]);
    hasReleasedLocks = false;
  };

  const deliverResults = async (): Promise<void> => {
    for (const startedAction of [...startedActions].toSorted((a, b) => a.number - b.number)) {
      await waitAfterLockRelease();
      if (startedAction.action.simProcess?.isDead === true) startedActions.delete(startedAction);
      if (startedAction.result === undefined || !startedActions.delete(startedAction)) continue;
      if (startedAction.number !== steps)
        trace(`… ${startedAction.number} ${startedAction.result.traceText}`);
      const { simProcess } = startedAction.action;
      if (simProcess === undefined) startedAction.result.deliver();
      else runAs(simProcess, startedAction.result.deliver);
      await waitUntilIdle();
    }
  };

  /**
   * When a row changes, Postgres wakes its waiters in an arbitrary order. Allows only one waiter
   * per row. A second waiter is cancelled as if it had timed out.
   */
  const cancelSecondWait = async (startedAction: StartedAction): Promise<void> => {
    const otherActions = [...startedActions].filter(
      (otherAction) => otherAction !== startedAction && !isFinished(otherAction),
    );
    if (isFinished(startedAction) || otherActions.length === 0) return;
    const blockedSessions = await findBlockedSessions();
    const getLockWait = ({ action }: StartedAction) =>
      action.pid === undefined ? undefined : blockedSessions.get(action.pid());
    const lockWait = getLockWait(startedAction);
    const isSecondWaiter = otherActions.some((otherAction) => {
      const blockingPids = new Set([
        otherAction.action.pid?.(),
        ...(getLockWait(otherAction)?.blockedBy ?? []),
      ]);
      return (
        getLockWait(otherAction)?.isForRow === true &&
        lockWait?.blockedBy.some((pid) => blockingPids.has(pid))
      );
    });
    if (lockWait?.isForRow !== true || !isSecondWaiter) return;
    count("canceled a second waiter");
    await startedAction.action.cancel?.();
    await startedAction.completion;
  };

  const startAction = async (action: PendingAction, crashPoint: CrashPoint): Promise<void> => {
    pendingActions.delete(action);
    const started: StartedAction = {
      action,
      number: steps,
      result: undefined,
      completion: Promise.resolve(),
    };
    startedActions.add(started);
    const performPromise =
      action.simProcess === undefined
        ? action.perform(crashPoint)
        : runAs(action.simProcess, () => action.perform(crashPoint));
    started.completion = performPromise.then((result) => {
      started.result = result;
    });
    const startedAtMs = performance.now();
    await waitUntilDoneOrBlocked([started]);
    await cancelSecondWait(started);
    if (started.result !== undefined)
      usualActionMs += (performance.now() - startedAtMs - usualActionMs) / 32;
    const traceText = started.result?.traceText ?? "waits for a lock";
    if (started.result === undefined) count("waited for a lock");
    trace(
      `${action.simProcess?.name ?? "world"} ${action.kind} ${action.description} ${crashPoint === "pass" ? "" : `[${crashPoint}] `}${traceText}`,
    );
    if (started.result?.releasesLocks === true) await waitUntilDoneOrBlocked([...startedActions]);
  };

  return {
    random,
    count,
    counts: (): ReadonlyMap<string, number> => counts,
    trace,
    waitUntilIdle,
    schedule,
    addTimer,
    steps: () => steps,
    nowMs: () => nowMs,
    now: () => new Date(nowMs),
    traceLines: (): readonly string[] => traceLines,
    digest: () => digest.copy().digest("hex"),
    setFindBlockedSessions: (findBlocked: FindBlockedSessions) => {
      findBlockedSessions = findBlocked;
    },
    removeTimer: (timer: Timer) => {
      timers.delete(timer);
    },
    /** Pauses the world while real work runs. */
    pauseWhile: async <Result>(work: () => Promise<Result>): Promise<Result> => {
      const workPromise = work();
      externalWork.add(workPromise);
      try {
        return await workPromise;
      } finally {
        externalWork.delete(workPromise);
        activityCount += 1;
      }
    },
    countRunnable: () => listRunnable().length,
    advance: (byMs: number): void => {
      nowMs += byMs;
    },
    /** Returns when the next timer is due, or undefined if there is none. */
    nextTimerMs: (): number | undefined => {
      const dueTimes = [...timers].map(({ atMs }) => atMs);
      return dueTimes.length === 0 ? undefined : Math.min(...dueTimes);
    },
    /** Runs an action or a timer. `chooseCrashPoint` decides what happens to an action. */
    runStep: async (
      chooseCrashPoint: (action: PendingAction) => CrashPoint,
      killProcess: (simProcess: SimProcess) => Promise<void>,
    ) => {
      const runnable = listRunnable();
      const chosenStep = random.pick(runnable);
      steps += 1;
      if ("fire" in chosenStep) {
        trace(`${chosenStep.simProcess.name} timer`);
        fireTimer(chosenStep);
      } else {
        const crashPoint = chooseCrashPoint(chosenStep);
        if (crashPoint !== "pass") count(`${chosenStep.kind}: ${crashPoint}`);
        if (crashPoint === "crash before" && chosenStep.simProcess !== undefined) {
          trace(
            `${chosenStep.simProcess.name} ${chosenStep.kind} ${chosenStep.description} [${crashPoint}]`,
          );
          await killProcess(chosenStep.simProcess);
        } else {
          await startAction(chosenStep, crashPoint);
          if (crashPoint === "crash after" && chosenStep.simProcess !== undefined)
            await killProcess(chosenStep.simProcess);
        }
      }
      await deliverResults();
      await waitUntilIdle();
    },
    /** Discards all actions and timers that a process waits for. */
    cancelPending: (simProcess: SimProcess): void => {
      for (const action of pendingActions)
        if (action.simProcess === simProcess) pendingActions.delete(action);
      for (const timer of timers) if (timer.simProcess === simProcess) timers.delete(timer);
    },
    /** Called when a session has ended. Other actions could have been waiting for its locks. */
    markLocksReleased: (): void => {
      hasReleasedLocks = true;
    },
    createClock: (simProcess: SimProcess): Clock => ({
      now: () => new Date(nowMs),
      elapsedMs: () => nowMs - startedAt.getTime(),
      sleepUntil: (instant, signal) => {
        if (simProcess.isDead) return waitForever();
        if (signal?.aborted === true || !(instant.getTime() > nowMs)) return Promise.resolve();
        return new Promise((resolve) => {
          const resume = () => {
            timers.delete(timer);
            signal?.removeEventListener("abort", resume);
            activityCount += 1;
            resolve();
          };
          const timer = addTimer(simProcess, instant.getTime(), resume);
          signal?.addEventListener("abort", resume, { once: true });
        });
      },
    }),
  };
};
