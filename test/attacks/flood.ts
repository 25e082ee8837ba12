import { type Counts, increment } from "./counts.ts";
import { type Call, createHttpCaller } from "./http-caller.ts";
import type { Target } from "./target.ts";

/** A running attack: its target, its counts, and the signal that ends it. */
export type AttackRun = { target: Target; counts: Counts; signal: AbortSignal };

type FloodOptions = {
  createCall: (n: number) => Call;
  /** Calls per second from all addresses together. */
  perSecond?: number;
  /** The maximum number of calls in flight. */
  inFlightMax?: number;
};

const tickMs = 10;
/**
 * About 50 times a route's rate limit for one address, and about the combined limit of 64
 * addresses.
 */
const perSecondDefault = 1_000;
const inFlightMaxDefault = 256;

/** Sends calls at a steady rate and reads each response. */
export const flood = (
  { counts, signal, target }: AttackRun,
  { createCall, perSecond = perSecondDefault, inFlightMax = inFlightMaxDefault }: FloodOptions,
): void => {
  const callers = target.addresses.map((address) => createHttpCaller(target.ports, address));
  const startedAtMs = performance.now();
  let [sentCount, inFlight] = [0, 0];
  const send = async (n: number): Promise<void> => {
    inFlight += 1;
    const result = await callers[n % callers.length]?.send(createCall(n));
    inFlight -= 1;
    if (signal.aborted || result === undefined) return;
    counts.bytesRead += result.text.length;
    if (result.status === undefined) increment(counts.errors, result.error ?? "unknown");
    else increment(counts.responses, result.status);
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
