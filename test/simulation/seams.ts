import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import { Agent, type Dispatcher } from "undici";
import { postgresSeam } from "./postgres-seam.ts";
import {
  type SimProcess,
  type SimulatedWorld,
  currentProcess,
  waitForever,
} from "./simulated-world.ts";

/** The scripted external systems: the nodes of a chain, and webhook receivers. */
export type Adversaries = {
  /**
   * Returns a text for the trace, and the status. The status is undefined for a failed connection,
   * and `never` for no response.
   */
  receiveWebhook: (call: {
    origin: string;
    path: string;
    headers: Readonly<Record<string, string>>;
    body: string;
  }) => { traceText: string; status: number | undefined | "never" };
  /** Returns a node's response to a JSON-RPC request, or `never` for no response. */
  handleRpcRequest: (
    host: string,
    body: string,
  ) => Promise<{ traceText: string; status: number; body: string } | "never">;
};

type SimulationScope = { world: SimulatedWorld; adversaries: Adversaries };

let scope: SimulationScope | undefined;

/** Sets the world that handles all intercepted calls from now on. */
export const setScope = (nextScope: SimulationScope | undefined): void => {
  scope = nextScope;
  postgresSeam.world = nextScope?.world;
};

/** A process's timer. The world's clock drives it. */
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

const originals = {
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

const getCaller = ():
  | { world: SimulatedWorld; adversaries: Adversaries; simProcess: SimProcess }
  | undefined => {
  const simProcess = currentProcess();
  return simProcess === undefined || scope === undefined ? undefined : { ...scope, simProcess };
};

const startTimer = (
  world: SimulatedWorld,
  simProcess: SimProcess,
  { ms, isRepeated, run }: { ms: number; isRepeated: boolean; run: () => void },
): WorldTimer => {
  const worldTimer = new WorldTimer();
  const scheduleNext = () => {
    const timer = world.addTimer(simProcess, world.nowMs() + Math.max(ms, 1), () => {
      if (isRepeated) scheduleNext();
      run();
    });
    worldTimer.cancel = () => world.removeTimer(timer);
  };
  scheduleNext();
  return worldTimer;
};

type TimerFunction = (
  run: (...args: unknown[]) => void,
  ms?: number,
  ...args: unknown[]
) => unknown;

const createTimerFunction =
  (isRepeated: boolean, original: TimerFunction): TimerFunction =>
  (run, ms = 0, ...args) => {
    const caller = getCaller();
    if (caller === undefined) return original(run, ms, ...args);
    return startTimer(caller.world, caller.simProcess, { ms, isRepeated, run: () => run(...args) });
  };

const createClearFunction =
  (original: (timer: never) => void) =>
  (timer: unknown): void => {
    if (timer instanceof WorldTimer) timer.cancel();
    else original(timer as never);
  };

const sleep = (ms = 0, value?: unknown): Promise<unknown> => {
  const caller = getCaller();
  if (caller === undefined) return originals.sleep(ms, value);
  return new Promise((resolve) => {
    startTimer(caller.world, caller.simProcess, {
      ms,
      isRepeated: false,
      run: () => resolve(value),
    });
  });
};

/** Yields to the event loop while the world is paused, so that no other action runs. */
const nextTurn = (value?: unknown): Promise<unknown> => {
  const caller = getCaller();
  const waitForTurn = () => originals.nextTurn(value);
  return caller === undefined ? waitForTurn() : caller.world.pauseWhile(waitForTurn);
};

const createTimeoutSignal = (ms: number): AbortSignal => {
  const caller = getCaller();
  if (caller === undefined) return originals.abortTimeout(ms);
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException("timed out", "TimeoutError"));
  startTimer(caller.world, caller.simProcess, { ms, isRepeated: false, run: abort });
  return controller.signal;
};

/** Handles requests to a chain's nodes. This is the only use of `fetch`. */
const fetchFromNode = (input: URL, init: RequestInit = {}): Promise<Response> => {
  const caller = getCaller();
  if (caller === undefined) return originals.fetch(input, init);
  const { simProcess, adversaries, world } = caller;
  if (simProcess.isDead) return waitForever();
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const { signal } = init;
  const rejectAborted = () => reject(signal?.reason);
  if (signal?.aborted === true) rejectAborted();
  signal?.addEventListener("abort", rejectAborted, { once: true });
  // Otherwise, the signal would retain a response of several megabytes until its timer fires.
  const respond = (response: Response) => {
    signal?.removeEventListener("abort", rejectAborted);
    resolve(response);
  };
  const host = input.hostname;
  world.schedule({
    simProcess,
    kind: "rpc",
    description: host,
    crashPoints: ["fail before", "fail after", "crash before", "crash after"],
    perform: async (crashPoint) => {
      const connectionFailure = {
        traceText: "no connection",
        deliver: () => reject(new TypeError("fetch failed")),
      };
      if (crashPoint === "fail before") return connectionFailure;
      const rpcResponse = await adversaries.handleRpcRequest(host, init.body as string);
      if (rpcResponse === "never") return { traceText: "no response", deliver: () => {} };
      const { body, status, traceText } = rpcResponse;
      const headers = { "content-length": String(Buffer.byteLength(body)) };
      if (crashPoint === "fail after")
        return { ...connectionFailure, traceText: `${traceText}, lost` };
      return { traceText, deliver: () => respond(new Response(body, { status, headers })) };
    },
  });
  return promise;
};

/** The controller of a call that undici's handlers expect. */
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

/** Handles webhooks without sockets, because the receivers are scripted. */
const dispatch = function (
  this: Agent,
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
): boolean {
  const caller = getCaller();
  if (caller === undefined) return originals.dispatch.call(this, options, handler);
  const { simProcess, adversaries, world } = caller;
  let isFinished = false;
  const controller = new CallController((reason) => {
    if (isFinished) return;
    isFinished = true;
    handler.onResponseError?.(controller, reason);
  });
  handler.onRequestStart?.(controller, {});
  if (controller.aborted) return true;
  const headers = options.headers as Record<string, string>;
  world.schedule({
    simProcess,
    kind: "webhook",
    description: headers["host"] ?? "",
    crashPoints: ["crash before", "crash after"],
    perform: async () => {
      if (isFinished) return { traceText: "aborted", deliver: () => {} };
      const { status, traceText } = adversaries.receiveWebhook({
        origin: headers["host"] ?? "",
        path: options.path,
        headers,
        body: options.body as string,
      });
      return { traceText, deliver: () => sendResponse(status) };
    },
  });
  const sendResponse = (status: number | undefined | "never"): void => {
    if (isFinished || status === "never") return;
    isFinished = true;
    if (status === undefined) {
      const connectionError = Object.assign(new Error("connection refused"), {
        code: "ECONNREFUSED",
      });
      handler.onResponseError?.(controller, connectionError);
      return;
    }
    handler.onResponseStart?.(controller, status, {}, "");
    handler.onResponseEnd?.(controller, {});
  };
  return true;
};

/**
 * Permanently replaces everything in this process that a service gets from its machine: timers,
 * randomness, sockets to external systems, and Postgres sessions. Code outside of the simulated
 * processes gets the originals.
 */
export const installSeams = (): void => {
  const {
    setTimeout: originalSetTimeout,
    setInterval: originalSetInterval,
    clearTimeout: originalClearTimeout,
    clearInterval: originalClearInterval,
  } = originals;
  Object.assign(globalThis, {
    setTimeout: createTimerFunction(false, originalSetTimeout as TimerFunction),
    setInterval: createTimerFunction(true, originalSetInterval as TimerFunction),
    clearTimeout: createClearFunction(originalClearTimeout),
    clearInterval: createClearFunction(originalClearInterval),
    fetch: fetchFromNode,
  });
  Math.random = () => {
    const caller = getCaller();
    return caller === undefined ? originals.random() : caller.world.random.next();
  };
  AbortSignal.timeout = createTimeoutSignal;
  Agent.prototype.dispatch = dispatch;
  Object.assign(timersPromises, { setTimeout: sleep, setImmediate: nextTurn });
  syncBuiltinESMExports();
  postgresSeam.install();
};
