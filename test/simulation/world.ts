import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import type { Client } from "pg";
import type { Clock } from "@payment-links/runtime";
import type { Random } from "./random.ts";

/** A process of the simulation: what its code asks of the outside carries its name. */
export type Owner = { name: string; isDead: boolean; clients: Set<Client> };

/** What becomes of an act; how it is carried out is the seam's own. */
export type Fate = "pass" | "fail before" | "fail after" | "crash before" | "crash after" | "late";

/** Something that would happen next, once the scheduler lets it. */
export type Act = {
  owner: Owner | undefined;
  kind: string;
  /** For the trace: nothing that is drawn from elsewhere than the seed, such as an id. */
  what: string;
  fates: readonly Fate[];
  /** The session of a statement, which may come to wait for a lock. */
  pid?: () => number;
  /** Ends such a wait, as a statement's timeout does. */
  cancel?: () => Promise<unknown>;
  /** Does it; answers how its result is handed over, later, and a word for the trace. */
  perform: (fate: Fate) => Promise<Outcome>;
};

/** `releases` says that others may have waited for just this. */
export type Outcome = { word: string; deliver: () => void; releases?: boolean };

type Begun = { act: Act; number: number; outcome: Outcome | undefined; ended: Promise<void> };

type Timer = { atMs: number; owner: Owner; fire: () => void };

/** Whose code is running. */
const owners = new AsyncLocalStorage<Owner>();

/** The process whose code asks, if it is one of the simulation. */
export const currentOwner = (): Owner | undefined => owners.getStore();

/** Runs code as a process of the simulation does. */
export const runAs = <Result>(owner: Owner, work: () => Result): Result => owners.run(owner, work);

/** Never settles: what a process that was killed waits for. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** The real ones, taken before anything is replaced. */
const { setImmediate: realImmediate, setTimeout: realTimeout } = globalThis;

const quietTurns = 4;
const lookAtLocksMsMin = 2;
const stuckMsMax = 60_000;
const linesKept = 400;

/** A session's wait for a lock: for a row's, or one that has but a name. */
export type Wait = { blockedBy: readonly number[]; isForRow: boolean };

/** Which backends wait for a lock, and have for long enough that no deadlock is to be found. */
export type FindWaiting = () => Promise<ReadonlyMap<number, Wait>>;

export type World = ReturnType<typeof createWorld>;

/**
 * One scheduler for all that happens. Code of the product runs until each part of it waits for the
 * world: for a statement, a timer, an answer. Then one of these acts is chosen and carried out, and so
 * on. So nothing happens at the same time as anything else, and the seed decides the order.
 */
export const createWorld = (
  random: Random,
  startedAt: Date,
  heard: (line: string) => void = () => {},
) => {
  let nowMs = startedAt.getTime();
  let activity = 0;
  let steps = 0;
  const busy = new Set<Promise<unknown>>();
  let hasReleased = false;
  /** How long an act takes on this machine, which others may load: locks are looked at after longer. */
  let usualMs = 1;
  const acts = new Set<Act>();
  const timers = new Set<Timer>();
  const begun = new Set<Begun>();
  const digest = createHash("sha256");
  const lines: string[] = [];
  const counts = new Map<string, number>();
  let findWaiting: FindWaiting = async () => new Map();

  const count = (what: string, by = 1): void => {
    counts.set(what, (counts.get(what) ?? 0) + by);
  };

  const say = (line: string): void => {
    const told = `${steps} ${nowMs - startedAt.getTime()} ${line}`;
    digest.update(`${told}\n`);
    heard(told);
    lines.push(told);
    if (lines.length > linesKept) lines.shift();
  };

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      realTimeout(resolve, ms);
    });

  /** Ends once no code runs any more without waiting for the world. */
  const quiet = async (): Promise<void> => {
    for (let turns = 0; turns < quietTurns; turns += 1) {
      const before = activity;
      await new Promise((resolve) => {
        realImmediate(resolve);
      });
      const isBusy = busy.size > 0;
      if (isBusy) await Promise.allSettled(busy);
      if (before !== activity || isBusy) turns = -1;
    }
  };

  const park = (act: Act): void => {
    activity += 1;
    if (act.owner?.isDead !== true) acts.add(act);
  };

  const addTimer = (owner: Owner, atMs: number, fire: () => void): Timer => {
    activity += 1;
    const timer = { atMs, owner, fire: AsyncLocalStorage.bind(fire) };
    timers.add(timer);
    return timer;
  };

  const fireTimer = (timer: Timer): void => {
    timers.delete(timer);
    timer.fire();
  };

  /** The parts of the world that may go on: acts that wait, and timers whose time has come. */
  const listReady = (): readonly (Act | Timer)[] => [
    ...acts,
    ...[...timers].filter((timer) => timer.atMs <= nowMs),
  ];

  const isOver = (one: Begun): boolean => one.outcome !== undefined;

  /** Waits until each statement under way has ended or waits for a lock. */
  const settle = async (waitFor: readonly Begun[]): Promise<void> => {
    const until = performance.now() + stuckMsMax;
    for (let waitMs = Math.max(lookAtLocksMsMin, usualMs * 4); ; waitMs *= 2) {
      const open = waitFor.filter((one) => !isOver(one) && one.act.owner?.isDead !== true);
      if (open.length === 0) return;
      await Promise.race([...open.map((one) => one.ended), wait(waitMs)]);
      const still = open.filter((one) => !isOver(one));
      if (still.length === 0) continue;
      const areStatements = still.every(({ act }) => act.pid !== undefined);
      const waiting = areStatements ? await findWaiting() : new Map<number, Wait>();
      const isWaiting = ({ act }: Begun) => act.pid !== undefined && waiting.has(act.pid());
      if (still.every((one) => isOver(one) || isWaiting(one))) return;
      if (performance.now() > until) throw new Error(`stuck: ${still[0]?.act.what ?? ""}`);
    }
  };

  /** Whoever hears its outcome may end a session, for whose locks the next one has waited. */
  const settleReleased = async (): Promise<void> => {
    if (hasReleased) await settle([...begun]);
    hasReleased = false;
  };

  const deliverAll = async (): Promise<void> => {
    for (const one of [...begun].toSorted((a, b) => a.number - b.number)) {
      await settleReleased();
      if (one.act.owner?.isDead === true) begun.delete(one);
      if (one.outcome === undefined || !begun.delete(one)) continue;
      if (one.number !== steps) say(`… ${one.number} ${one.outcome.word}`);
      const { owner } = one.act;
      if (owner === undefined) one.outcome.deliver();
      else runAs(owner, one.outcome.deliver);
      await quiet();
    }
  };

  /**
   * Of two that wait for one row Postgres lets either go first, once that has changed: where one waits
   * already, another runs out of time.
   */
  const endSecondWait = async (one: Begun): Promise<void> => {
    const others = [...begun].filter((other) => other !== one && !isOver(other));
    if (isOver(one) || others.length === 0) return;
    const waiting = await findWaiting();
    const waitOf = ({ act }: Begun) => (act.pid === undefined ? undefined : waiting.get(act.pid()));
    const wait = waitOf(one);
    const isSecond = others.some((other) => {
      const before = new Set([other.act.pid?.(), ...(waitOf(other)?.blockedBy ?? [])]);
      return waitOf(other)?.isForRow === true && wait?.blockedBy.some((pid) => before.has(pid));
    });
    if (wait?.isForRow !== true || !isSecond) return;
    count("waited behind another");
    await one.act.cancel?.();
    await one.ended;
  };

  const begin = async (act: Act, fate: Fate): Promise<void> => {
    acts.delete(act);
    const one: Begun = { act, number: steps, outcome: undefined, ended: Promise.resolve() };
    begun.add(one);
    const performing =
      act.owner === undefined ? act.perform(fate) : runAs(act.owner, () => act.perform(fate));
    one.ended = performing.then((outcome) => {
      one.outcome = outcome;
    });
    const begunAtMs = performance.now();
    await settle([one]);
    await endSecondWait(one);
    if (one.outcome !== undefined) usualMs += (performance.now() - begunAtMs - usualMs) / 32;
    const word = one.outcome?.word ?? "waits for a lock";
    if (one.outcome === undefined) count("waited for a lock");
    say(
      `${act.owner?.name ?? "world"} ${act.kind} ${act.what} ${fate === "pass" ? "" : `[${fate}] `}${word}`,
    );
    if (one.outcome?.releases === true) await settle([...begun]);
  };

  return {
    random,
    count,
    counts: (): ReadonlyMap<string, number> => counts,
    say,
    quiet,
    park,
    addTimer,
    steps: () => steps,
    nowMs: () => nowMs,
    now: () => new Date(nowMs),
    lines: (): readonly string[] => lines,
    digest: () => digest.copy().digest("hex"),
    findWaitingBy: (find: FindWaiting) => {
      findWaiting = find;
    },
    removeTimer: (timer: Timer) => {
      timers.delete(timer);
    },
    /** Holds the world still while something of the machine's own is under way. */
    during: async <Result>(work: () => Promise<Result>): Promise<Result> => {
      const working = work();
      busy.add(working);
      try {
        return await working;
      } finally {
        busy.delete(working);
        activity += 1;
      }
    },
    countReady: () => listReady().length,
    advance: (byMs: number): void => {
      nowMs += byMs;
    },
    /** When the next timer is due; undefined without one. */
    nextTimerMs: (): number | undefined => {
      const due = [...timers].map(({ atMs }) => atMs);
      return due.length === 0 ? undefined : Math.min(...due);
    },
    /** Lets one part of the world go on. `decide` says what becomes of an act. */
    step: async (decide: (act: Act) => Fate, crash: (owner: Owner) => Promise<void>) => {
      const ready = listReady();
      const chosen = random.pick(ready);
      steps += 1;
      if ("fire" in chosen) {
        say(`${chosen.owner.name} timer`);
        fireTimer(chosen);
      } else {
        const fate = decide(chosen);
        if (fate !== "pass") count(`${chosen.kind}: ${fate}`);
        if (fate === "crash before" && chosen.owner !== undefined) {
          say(`${chosen.owner.name} ${chosen.kind} ${chosen.what} [${fate}]`);
          await crash(chosen.owner);
        } else {
          await begin(chosen, fate);
          if (fate === "crash after" && chosen.owner !== undefined) await crash(chosen.owner);
        }
      }
      await deliverAll();
      await quiet();
    },
    /** Forgets all that a process waits for: none of it will happen. */
    forget: (owner: Owner): void => {
      for (const act of acts) if (act.owner === owner) acts.delete(act);
      for (const timer of timers) if (timer.owner === owner) timers.delete(timer);
    },
    /** A session has ended, for whose locks others may have waited. */
    released: (): void => {
      hasReleased = true;
    },
    clockOf: (owner: Owner): Clock => ({
      now: () => new Date(nowMs),
      elapsedMs: () => nowMs - startedAt.getTime(),
      until: (instant, signal) => {
        if (owner.isDead) return never();
        if (signal.aborted || !(instant.getTime() > nowMs)) return Promise.resolve();
        return new Promise((resolve) => {
          const wake = () => {
            timers.delete(timer);
            signal.removeEventListener("abort", wake);
            activity += 1;
            resolve();
          };
          const timer = addTimer(owner, instant.getTime(), wake);
          signal.addEventListener("abort", wake, { once: true });
        });
      },
    }),
  };
};
