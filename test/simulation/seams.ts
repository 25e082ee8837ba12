import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import { Agent, type Dispatcher } from "undici";
import { postgresSeam } from "./postgres-seam.ts";
import { type Owner, type World, currentOwner, never } from "./world.ts";

/** What strangers answer: nodes of a chain, and receivers of webhooks. */
export type Strangers = {
  /** A word for the trace, and the status; undefined: no connection; `never`: it says nothing. */
  receive: (call: {
    origin: string;
    path: string;
    headers: Readonly<Record<string, string>>;
    body: string;
  }) => { word: string; status: number | undefined | "never" };
  /** A node's answer to a JSON-RPC request; `never` if it says nothing. */
  ask: (host: string, body: string) => { word: string; status: number; body: string } | "never";
};

type Scene = { world: World; strangers: Strangers };

let scene: Scene | undefined;

/** Sets the world that the replaced parts of the machine belong to from now on. */
export const enter = (next: Scene | undefined): void => {
  scene = next;
  postgresSeam.world = next?.world;
};

/** A timer of a process: it goes by the world's clock. */
class WorldTimer {
  cancel: () => void = () => {};
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  refresh() {
    return this;
  }
  close() {
    this.cancel();
    return this;
  }
}

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  fetch: globalThis.fetch,
  sleep: timersPromises.setTimeout,
  nextTurn: timersPromises.setImmediate,
  random: Math.random,
  abortTimeout: AbortSignal.timeout.bind(AbortSignal),
  dispatch: Reflect.get(Agent.prototype, "dispatch"),
};

const asker = (): { world: World; strangers: Strangers; owner: Owner } | undefined => {
  const owner = currentOwner();
  return owner === undefined || scene === undefined ? undefined : { ...scene, owner };
};

const startTimer = (
  world: World,
  owner: Owner,
  { ms, isRepeated, run }: { ms: number; isRepeated: boolean; run: () => void },
): WorldTimer => {
  const handle = new WorldTimer();
  const arm = () => {
    const timer = world.addTimer(owner, world.nowMs() + Math.max(ms, 1), () => {
      if (isRepeated) arm();
      run();
    });
    handle.cancel = () => world.removeTimer(timer);
  };
  arm();
  return handle;
};

type AnyTimer = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => unknown;

const timerBy =
  (isRepeated: boolean, fallback: AnyTimer): AnyTimer =>
  (run, ms = 0, ...args) => {
    const asked = asker();
    if (asked === undefined) return fallback(run, ms, ...args);
    return startTimer(asked.world, asked.owner, { ms, isRepeated, run: () => run(...args) });
  };

const clearBy =
  (fallback: (timer: never) => void) =>
  (timer: unknown): void => {
    if (timer instanceof WorldTimer) timer.cancel();
    else fallback(timer as never);
  };

const sleep = (ms = 0, value?: unknown): Promise<unknown> => {
  const asked = asker();
  if (asked === undefined) return real.sleep(ms, value);
  return new Promise((resolve) => {
    startTimer(asked.world, asked.owner, { ms, isRepeated: false, run: () => resolve(value) });
  });
};

/** Others' turn: it holds the world still, so that nothing goes on meanwhile. */
const nextTurn = (value?: unknown): Promise<unknown> => {
  const asked = asker();
  const wait = () => real.nextTurn(value);
  return asked === undefined ? wait() : asked.world.during(wait);
};

const abortAfter = (ms: number): AbortSignal => {
  const asked = asker();
  if (asked === undefined) return real.abortTimeout(ms);
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException("late", "TimeoutError"));
  startTimer(asked.world, asked.owner, { ms, isRepeated: false, run: abort });
  return controller.signal;
};

/** Questions to nodes of a chain end here: nobody else is asked by `fetch`. */
const fetchNode = (input: URL, init: RequestInit = {}): Promise<Response> => {
  const asked = asker();
  if (asked === undefined) return real.fetch(input, init);
  const { owner, strangers, world } = asked;
  if (owner.isDead) return never();
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const { signal } = init;
  const giveUp = () => reject(signal?.reason);
  if (signal?.aborted === true) giveUp();
  signal?.addEventListener("abort", giveUp, { once: true });
  // Otherwise the signal keeps a response of megabytes until its timer fires.
  const respond = (response: Response) => {
    signal?.removeEventListener("abort", giveUp);
    resolve(response);
  };
  const host = input.hostname;
  world.park({
    owner,
    kind: "rpc",
    what: host,
    fates: ["fail before", "fail after", "crash before", "crash after"],
    perform: async (fate) => {
      const broken = {
        word: "no connection",
        deliver: () => reject(new TypeError("fetch failed")),
      };
      if (fate === "fail before") return broken;
      const answer = strangers.ask(host, init.body as string);
      if (answer === "never") return { word: "silence", deliver: () => {} };
      const { body, status, word } = answer;
      const headers = { "content-length": String(Buffer.byteLength(body)) };
      if (fate === "fail after") return { ...broken, word: `${word}, lost` };
      return { word, deliver: () => respond(new Response(body, { status, headers })) };
    },
  });
  return promise;
};

/** What undici's handlers know of a call under way. */
class CallController {
  aborted = false;
  reason: Error | null = null;
  paused = false;
  rawHeaders = [];
  rawTrailers = [];
  readonly onAbort: (reason: Error) => void;
  constructor(onAbort: (reason: Error) => void) {
    this.onAbort = onAbort;
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.onAbort(reason);
  }
}

/** Webhooks end here, above the sockets: the receivers are scripted. */
const dispatch = function (
  this: Agent,
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
): boolean {
  const asked = asker();
  if (asked === undefined) return real.dispatch.call(this, options, handler);
  const { owner, strangers, world } = asked;
  let isOver = false;
  const controller = new CallController((reason) => {
    if (isOver) return;
    isOver = true;
    handler.onResponseError?.(controller, reason);
  });
  handler.onRequestStart?.(controller, {});
  if (controller.aborted) return true;
  const headers = options.headers as Record<string, string>;
  world.park({
    owner,
    kind: "webhook",
    what: headers["host"] ?? "",
    fates: ["crash before", "crash after"],
    perform: async () => {
      if (isOver) return { word: "gave up", deliver: () => {} };
      const { status, word } = strangers.receive({
        origin: headers["host"] ?? "",
        path: options.path,
        headers,
        body: options.body as string,
      });
      return { word, deliver: () => answer(status) };
    },
  });
  const answer = (status: number | undefined | "never"): void => {
    if (isOver || status === "never") return;
    isOver = true;
    if (status === undefined) {
      const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      handler.onResponseError?.(controller, refused);
      return;
    }
    handler.onResponseStart?.(controller, status, {}, "");
    handler.onResponseEnd?.(controller, {});
  };
  return true;
};

/**
 * Replaces, in this process and for good, what a process asks of its machine: timers, chance, sockets to
 * strangers, and the sessions of Postgres. Code that belongs to no process of the simulation gets the
 * real thing.
 */
export const installSeams = (): void => {
  const { setTimeout: first, setInterval: again, clearTimeout: end, clearInterval: stop } = real;
  Object.assign(globalThis, {
    setTimeout: timerBy(false, first as AnyTimer),
    setInterval: timerBy(true, again as AnyTimer),
    clearTimeout: clearBy(end),
    clearInterval: clearBy(stop),
    fetch: fetchNode,
  });
  Math.random = () => {
    const asked = asker();
    return asked === undefined ? real.random() : asked.world.random.next();
  };
  AbortSignal.timeout = abortAfter;
  Agent.prototype.dispatch = dispatch;
  Object.assign(timersPromises, { setTimeout: sleep, setImmediate: nextTurn });
  syncBuiltinESMExports();
  postgresSeam.install();
};
