import { hashSecret } from "@payment-links/contracts";
import type { Clock, Log } from "@payment-links/runtime";
import { providerName } from "../domain/judge-providers.ts";
import { chunk } from "./chunk.ts";
import { type Circuit, createCircuit } from "./circuit.ts";
import {
  type Answer,
  BatchRefused,
  type JsonRpc,
  type Question,
  createJsonRpc,
} from "./json-rpc.ts";
import type { Dialect } from "./dialect.ts";
import { type RangeLimit, createRangeLimit } from "./range-limit.ts";
import { RpcFault } from "./rpc-fault.ts";
import type { RpcMetrics } from "./rpc-metrics.ts";

/** One RPC provider of a chain. */
export type Provider = {
  /** `rpc-1`, `rpc-2`, in the order of configuration; the address is a secret. */
  name: string;
  /** A hash of its address, which stays whatever the order of the configuration. */
  id: string;
  circuit: Circuit;
  range: RangeLimit;
  /** Asks all the questions and answers in their order; throws {@link RpcFault} if one failed. */
  ask<const Q extends readonly Question[]>(questions: Q): Promise<Values<Q>>;
  /**
   * The same for any number of questions of one kind: where they are too much for one answer, fewer
   * are asked at once, down to one.
   */
  askMany<T>(questions: readonly Question<T>[]): Promise<T[]>;
  /** The same, for questions of which some may fail. */
  askEach<T>(questions: readonly Question<T>[]): Promise<Answer<T>[]>;
  /** The same, asked like {@link Provider.askMany}. */
  askEachInParts<T>(questions: readonly Question<T>[]): Promise<Answer<T>[]>;
  /** The chain that it says it serves; its other answers count only while that is the right one. */
  askChain(): Promise<string>;
};

type Values<Q extends readonly Question[]> = {
  -readonly [K in keyof Q]: Q[K] extends Question<infer T> ? T : never;
};

/** How long things may take, and how often they are tried. */
export type RpcTiming = {
  /** One HTTP request, its answer's body included. */
  timeoutMs: number;
  /** A provider's first rest, after failures or after it said that it is asked too often. */
  restMs: number;
  restMsMax: number;
  /** After this time, a call to a reader asks no other provider and does not ask again. */
  askingMsMax: number;
};

export type ProviderOptions = {
  chainId: string;
  dialect: Dialect;
  index: number;
  url: string;
  rangeBlocksMax: number;
  timing: RpcTiming;
  clock: Clock;
  log: Log;
  metrics: RpcMetrics;
  closing: AbortSignal;
};

const idDigits = 16;
const callsPerRequestMax = 100;
const requestsAtOnceMax = 4;
const singlesAtOnceMax = 4;
const noBatchesMs = 10 * 60_000;
const chainKnownMs = 60_000;

/** Opens a provider; nothing is asked before the first question. */
export const openProvider = (options: ProviderOptions): Provider => {
  const { chainId, clock, dialect, log, metrics, timing } = options;
  const name = providerName(options.index);
  const label = { chain: chainId, provider: name };
  const { request, requestInParts } = createRequest(
    createJsonRpc({ ...options, ...timing, ...dialect }),
    options,
    name,
  );
  let chainKnownUntilMs = clock.elapsedMs();
  metrics.circuitChanged(label, false);

  const askChain = async () => {
    const [chain] = all(await request([dialect.chainQuestion]));
    if (chain === dialect.chainName) chainKnownUntilMs = clock.elapsedMs() + chainKnownMs;
    return chain ?? "";
  };

  // What answers at an address may change: a proxy's backend, or a node that was set up anew.
  const checkChain = async () => {
    if (clock.elapsedMs() < chainKnownUntilMs) return;
    const found = await askChain().catch(sayUnreachable);
    if (found === dialect.chainName) return;
    metrics.disagreed(chainId, "wrong_chain");
    log.error({ chain: chainId, provider: name, found }, "an RPC provider serves another chain");
    throw new RpcFault("invalid", "serves another chain", timing.restMsMax);
  };

  const askBy =
    (send: JsonRpc): JsonRpc =>
    async (questions) => {
      try {
        await checkChain();
        return await send(questions);
      } catch (error) {
        chainKnownUntilMs = clock.elapsedMs();
        throw error;
      }
    };
  const askEach = askBy(request);
  const askInParts = askBy(requestInParts);

  return {
    name,
    id: hashSecret(options.url).toString("hex").slice(0, idDigits),
    range: createRangeLimit(options.rangeBlocksMax),
    circuit: createCircuit({
      clock,
      restMs: timing.restMs,
      restMsMax: timing.restMsMax,
      tryMs: timing.timeoutMs,
      onChange: (isOpen) => {
        metrics.circuitChanged(label, isOpen);
        if (isOpen) log.warn(label, "an RPC provider fails: it is left alone for a while");
        else log.info(label, "an RPC provider answers again");
      },
    }),
    askEach,
    askEachInParts: askInParts,
    askMany: async (questions) => all(await askInParts(questions)),
    // The questions have parsed these values, in the same order.
    ask: async (questions) => all(await askEach(questions)) as Values<typeof questions>,
    askChain,
  };
};

// A time-out here says nothing of the question itself: its range is not to blame.
const sayUnreachable = (error: unknown): never => {
  const isLate = error instanceof RpcFault && error.kind === "timeout";
  throw isLate ? new RpcFault("unreachable", error.message) : error;
};

const all = <T>(answers: readonly Answer<T>[]): T[] =>
  answers.map((answer) => {
    if ("fault" in answer) throw answer.fault;
    return answer.value;
  });

/**
 * Cuts questions into requests that a provider can bear, sends a few at a time, and counts each. In
 * parts, those that were too much for an answer are asked again, fewer at once.
 */
const createRequest = (
  jsonRpc: JsonRpc,
  { chainId, clock, metrics }: ProviderOptions,
  provider: string,
): { request: JsonRpc; requestInParts: JsonRpc } => {
  let singlesUntilMs = clock.elapsedMs();
  const label = { chain: chainId, provider };

  const requestCounted: JsonRpc = async (questions) => {
    try {
      const answers = await jsonRpc(questions);
      const failed = answers.find((answer) => "fault" in answer);
      metrics.asked(label, failed?.fault.kind ?? "ok");
      return answers;
    } catch (error) {
      metrics.asked(label, error instanceof RpcFault ? error.kind : "refused");
      throw error;
    }
  };

  const requestChunk: JsonRpc = async (questions) => {
    try {
      return await requestCounted(questions);
    } catch (error) {
      if (!(error instanceof BatchRefused)) throw error;
      singlesUntilMs = clock.elapsedMs() + noBatchesMs;
      return requestSingly(questions);
    }
  };

  const requestSingly: JsonRpc = async (questions) => {
    const answers = [];
    for (const some of chunk(questions, singlesAtOnceMax)) {
      const asking = some.map(async (question) => requestCounted([question]));
      answers.push(...(await Promise.all(asking)).flat());
    }
    return answers;
  };

  /** Where all together are too much for an answer, each is. */
  const requestWhatFits: JsonRpc = (questions) =>
    requestChunk(questions).catch((error: unknown) => {
      if (!(error instanceof RpcFault) || error.kind !== "range") throw error;
      return questions.map(() => ({ fault: error }));
    });

  /** Asks for the answers that were too much again, fewer at once, one request after the other. */
  const requestRest = async <T>(
    questions: readonly Question<T>[],
    answers: Answer<T>[],
  ): Promise<Answer<T>[]> => {
    const tooMuch = questions.filter((_, index) => isTooMuch(answers[index]));
    if (questions.length === 1 || tooMuch.length === 0) return answers;
    // Those that fitted into the answer stand.
    const again: Answer<T>[] = [];
    const partMax = Math.min(Math.ceil(tooMuch.length / 2), callsPerRequestMax / 2);
    for (const part of chunk(tooMuch, partMax)) {
      again.push(...(await requestRest(part, await requestWhatFits(part))));
    }
    return answers.map((answer) => (isTooMuch(answer) ? (again.shift() ?? answer) : answer));
  };

  const by =
    (send: JsonRpc): JsonRpc =>
    async (questions) => {
      if (clock.elapsedMs() < singlesUntilMs) return requestSingly(questions);
      const answers = [];
      const requests = chunk(questions, callsPerRequestMax);
      for (const some of chunk(requests, requestsAtOnceMax)) {
        answers.push(...(await Promise.all(some.map((each) => send(each)))).flat());
      }
      return answers;
    };
  const requestTogether = by(requestWhatFits);
  return {
    request: by(requestChunk),
    requestInParts: async (questions) => requestRest(questions, await requestTogether(questions)),
  };
};

const isTooMuch = (answer: Answer | undefined): boolean =>
  answer !== undefined && "fault" in answer && answer.fault.kind === "range";
