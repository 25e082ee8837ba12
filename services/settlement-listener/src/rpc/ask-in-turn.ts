import { type Clock, afterMs } from "@payment-links/runtime";
import { ChainUnreachableError } from "../watch/chain-reader.ts";
import type { Provider, RpcTiming } from "./provider.ts";
import { RpcFault } from "./rpc-fault.ts";

/** Puts a question to a chain's providers, one after the other, until one answers. */
export type Turn = {
  /**
   * Answers with the first attempt that does not throw an {@link RpcFault}. Throws
   * `ChainUnreachableError` when all have failed several times, or the time is over.
   */
  ask<T>(what: string, attempt: (provider: Provider) => Promise<T>): Promise<T>;
  /** A second opinion: each other provider is asked once; undefined where none can answer. */
  askOther<T>(
    provider: Provider,
    attempt: (provider: Provider) => Promise<T>,
  ): Promise<T | undefined>;
};

type TurnOptions = {
  chainId: string;
  clock: Clock;
  timing: RpcTiming;
  closing: AbortSignal;
  /** The providers in the order in which they are to be asked now. */
  providers: () => readonly Provider[];
  /** How often each is asked at most. */
  roundsMax?: number | undefined;
};

const roundsMaxUsual = 4;
const pauseMs = 100;

export const createTurn = (options: TurnOptions): Turn => {
  const { chainId, clock, closing, providers, roundsMax = roundsMaxUsual, timing } = options;
  return {
    ask: async (what, attempt) => {
      const endsAtMs = clock.elapsedMs() + timing.askingMsMax;
      const faults = new Map<string, string>();
      for (let round = 0; round < roundsMax; round += 1) {
        for (const provider of providers()) {
          if (closing.aborted || clock.elapsedMs() > endsAtMs) break;
          const outcome = await tryOnce(provider, attempt);
          if ("value" in outcome) return outcome.value;
          faults.set(provider.name, outcome.fault);
        }
        const waitMs = nextRoundMs(providers(), round);
        const isOver = clock.elapsedMs() + waitMs > endsAtMs || round === roundsMax - 1;
        if (closing.aborted || isOver) break;
        await clock.until(afterMs(clock, waitMs), closing);
      }
      const asked = [...faults].map(([name, fault]) => `${name} ${fault}`);
      const told = asked.length === 0 ? "every provider is ignored" : asked.join(", ");
      throw new ChainUnreachableError(`chain ${chainId}: nobody answers for ${what}: ${told}`);
    },
    askOther: async (provider, attempt) => {
      for (const other of providers()) {
        if (other === provider || closing.aborted) continue;
        const outcome = await tryOnce(other, attempt);
        if ("value" in outcome) return outcome.value;
      }
      return undefined;
    },
  };
};

type Outcome<T> = { value: T } | { fault: string };

const tryOnce = async <T>(
  provider: Provider,
  attempt: (provider: Provider) => Promise<T>,
): Promise<Outcome<T>> => {
  const { circuit } = provider;
  if (!circuit.mayAsk()) return { fault: "rests after failures" };
  try {
    const value = await attempt(provider);
    circuit.succeed();
    return { value };
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    judge(provider, error);
    return { fault: error.message };
  }
};

/** A provider that answers, but cannot answer this question, is not broken. */
const judge = ({ circuit }: Provider, { kind, retryAfterMs }: RpcFault): void => {
  switch (kind) {
    case "rate_limited":
      circuit.fail({ atLeastMs: retryAfterMs ?? 0 });
      return;
    case "timeout":
    case "unreachable":
    case "invalid":
      circuit.fail(retryAfterMs === undefined ? undefined : { atLeastMs: retryAfterMs });
      return;
    case "range":
    case "behind":
    case "refused":
    case "reverted":
      circuit.succeed();
  }
};

/**
 * Tries again after a growing, jittered pause; if all providers rest, not before the first may be
 * asked again.
 */
const nextRoundMs = (providers: readonly Provider[], round: number): number => {
  const pausedMs = pauseMs * 2 ** round * (0.5 + Math.random() / 2);
  const rests = providers.map(({ circuit }) => circuit.restMs());
  return Math.max(pausedMs, Math.min(...rests));
};
