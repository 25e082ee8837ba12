import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import type { Client } from "pg";
import type { Clock } from "@payment-links/runtime";
import type { Random } from "./random.ts";

/** A process of the simulation: what its code asks of the outside carries its name. */
export type SimProcess = { name: string; isDead: boolean; clients: Set<Client> };

/** What becomes of an act; how it is carried out is the seam's own. */
export type CrashPoint =
  | "pass"
  | "fail before"
  | "fail after"
  | "crash before"
  | "crash after"
  | "late";

/** Something that would happen next, once the scheduler lets it. */
export type PendingAction = {
  simProcess: SimProcess | undefined;
  kind: string;
  /** For the trace: nothing that is drawn from elsewhere than the seed, such as an id. */
  description: string;
  crashPoints: readonly CrashPoint[];
  /** The session of a statement, which may come to wait for a lock. */
  pid?: () => number;
  /** Ends such a wait, as a statement's timeout does. */
  cancel?: () => Promise<unknown>;
  /** Does it; answers how its result is handed over, later, and a word for the trace. */
  perform: (crashPoint: CrashPoint) => Promise<ActionResult>;
};

/** `releases` says that others may have waited for just this. */
export type ActionResult = { traceText: string; deliver: () => void; releasesLocks?: boolean };

type StartedAction = {
  action: PendingAction;
  number: number;
  result: ActionResult | undefined;
  completion: Promise<void>;
};

type Timer = { atMs: number; simProcess: SimProcess; fire: () => void };

/** Whose code is running. */
const processStorage = new AsyncLocalStorage<SimProcess>();

/** The process whose code asks, if it is one of the simulation. */
export const currentProcess = (): SimProcess | undefined => processStorage.getStore();

/** Runs code as a process of the simulation does. */
export const runAs = <Result>(simProcess: SimProcess, work: () => Result): Result =>
  processStorage.run(simProcess, work);

/** Never settles: what a process that was killed waits for. */
export const waitForever = <T>(): Promise<T> => new Promise<T>(() => {});

/** The real ones, taken before anything is replaced. */
const { setImmediate: realImmediate, setTimeout: realTimeout } = globalThis;

const idleTurns = 4;
const lockCheckMsMin = 2;
const stuckMsMax = 60_000;
const traceLinesMax = 400;

/** A session's wait for a lock: for a row's, or one that has but a name. */
export type LockWait = { blockedBy: readonly number[]; isForRow: boolean };

/** Which backends wait for a lock, and have for long enough that no deadlock is to be found. */
export type FindBlockedSessions = () => Promise<ReadonlyMap<number, LockWait>>;

export type SimulatedWorld = ReturnType<typeof createSimulatedWorld>;

/**
 * One scheduler for all that happens. Code of the product runs until each part of it waits for the
 * world: for a statement, a timer, an answer. Then one of these acts is chosen and carried out, and so
 * on. So nothing happens at the same time as anything else, and the seed decides the order.
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
  /** How long an act takes on this machine, which others may load: locks are looked at after longer. */
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

  /** Ends once no code runs any more without waiting for the world. */
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

  /** The parts of the world that may go on: acts that wait, and timers whose time has come. */
  const listRunnable = (): readonly (PendingAction | Timer)[] => [
    ...pendingActions,
    ...[...timers].filter((timer) => timer.atMs <= nowMs),
  ];

  const isFinished = (startedAction: StartedAction): boolean => startedAction.result !== undefined;

  /** Waits until each statement under way has ended or waits for a lock. */
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

  /** Whoever hears its outcome may end a session, for whose locks the next one has waited. */
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
   * Of two that wait for one row Postgres lets either go first, once that has changed: where one waits
   * already, another runs out of time.
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
    count("waited behind another");
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
    /** Holds the world still while something of the machine's own is under way. */
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
    /** When the next timer is due; undefined without one. */
    nextTimerMs: (): number | undefined => {
      const dueTimes = [...timers].map(({ atMs }) => atMs);
      return dueTimes.length === 0 ? undefined : Math.min(...dueTimes);
    },
    /** Lets one part of the world go on. `decide` says what becomes of an act. */
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
    /** Forgets all that a process waits for: none of it will happen. */
    cancelPending: (simProcess: SimProcess): void => {
      for (const action of pendingActions)
        if (action.simProcess === simProcess) pendingActions.delete(action);
      for (const timer of timers) if (timer.simProcess === simProcess) timers.delete(timer);
    },
    /** A session has ended, for whose locks others may have waited. */
    markLocksReleased: (): void => {
      hasReleasedLocks = true;
    },
    createClock: (simProcess: SimProcess): Clock => ({
      now: () => new Date(nowMs),
      elapsedMs: () => nowMs - startedAt.getTime(),
      sleepUntil: (instant, signal) => {
        if (simProcess.isDead) return waitForever();
        if (signal.aborted || !(instant.getTime() > nowMs)) return Promise.resolve();
        return new Promise((resolve) => {
          const resume = () => {
            timers.delete(timer);
            signal.removeEventListener("abort", resume);
            activityCount += 1;
            resolve();
          };
          const timer = addTimer(simProcess, instant.getTime(), resume);
          signal.addEventListener("abort", resume, { once: true });
        });
      },
    }),
  };
};
