import { type Counts, addOne } from "./counts.ts";
import { type Call, openHttpCaller } from "./http-caller.ts";
import type { Target } from "./target.ts";

/** An attack under way: against what, what it counts, and when it ends. */
export type AttackRun = { target: Target; counts: Counts; signal: AbortSignal };

type FloodOptions = {
  callOf: (n: number) => Call;
  /** Calls per second from all addresses together. */
  perSecond?: number;
  /** Calls that wait for an answer at most. */
  inFlightMax?: number;
};

const tickMs = 10;
/** Fifty times what a route with a rate limit grants one address, and about that of 64 addresses. */
const perSecondDefault = 1_000;
const inFlightMaxDefault = 256;

/** Sends calls at a steady rate and reads each answer. */
export const flood = (
  { counts, signal, target }: AttackRun,
  { callOf, perSecond = perSecondDefault, inFlightMax = inFlightMaxDefault }: FloodOptions,
): void => {
  const callers = target.addresses.map((address) => openHttpCaller(target.ports, address));
  const startedAtMs = performance.now();
  let [sentCount, inFlight] = [0, 0];
  const send = async (n: number): Promise<void> => {
    inFlight += 1;
    const outcome = await callers[n % callers.length]?.send(callOf(n));
    inFlight -= 1;
    if (signal.aborted || outcome === undefined) return;
    counts.bytesRead += outcome.text.length;
    if (outcome.status === undefined) addOne(counts.errors, outcome.error ?? "unknown");
    else addOne(counts.answers, outcome.status);
  };
  const timer = setInterval(() => {
    const dueCount = ((performance.now() - startedAtMs) / 1_000) * perSecond;
    for (; sentCount < dueCount; sentCount += 1) {
      if (inFlight < inFlightMax) void send(sentCount);
    }
  }, tickMs);
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    for (const caller of callers) caller.close();
  });
};
