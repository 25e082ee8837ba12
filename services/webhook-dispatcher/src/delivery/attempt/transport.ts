import { Agent, type Dispatcher, Pool } from "undici";
import type { Clock } from "@payment-links/runtime";
import { createGuardedConnector } from "../../guard/guarded-connector.ts";
import type { HostOverrides } from "../../guard/host-overrides.ts";
import { rememberAnswers } from "../../guard/remember-answers.ts";
import type { Resolve } from "../../guard/resolver.ts";
import { hostOf } from "../../guard/webhook-url.ts";
import { createCheckedPools } from "./checked-pools.ts";

/** One POST to a stranger. */
type Call = {
  url: URL;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
};

/** A stranger's status line, and the rest of the answer behind it. */
type Answer = {
  status: number;
  /** Reads the rest, a few KiB of it at most, and drops it; ends with the call's signal. */
  drain: () => Promise<void>;
};

/** The only way in which bytes reach a stranger. */
export type Transport = {
  post(call: Call): Promise<Answer>;
  /** Ends every connection; to be called once no call is under way. */
  close(): Promise<void>;
};

type TransportOptions = {
  resolve: Resolve;
  clock: Clock;
  overrides: HostOverrides;
  /** Connections per origin: as many as attempts can be under way, so that none waits for another. */
  connectionsMax: number;
  connectTimeoutMs: number;
  /** A certificate authority that overridden https origins may use besides the public ones. */
  overrideCa?: string;
};

const answerBytesMax = 16 * 1024;
const idleMs = 4_000;
const idleHintMsMax = 60_000;
const connectionLifeMs = 10 * 60_000;

/**
 * Opens the transport. Connections are made only by the guarded connector, kept alive for as long
 * as DNS says the same of their host, and replaced after ten minutes at the latest. Overridden
 * hosts have an agent of their own. Proxy variables are not read, redirects not followed, answers
 * not decompressed.
 */
export const openTransport = (options: TransportOptions): Transport => {
  const { overrides, connectTimeoutMs, connectionsMax: connections } = options;
  const resolve = rememberAnswers(options.resolve, options);
  const shared = {
    connections,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleHintMsMax,
    clientTtl: connectionLifeMs,
    // The caller's signal is the one deadline: undici's own would start again at each byte of a
    // dripping answer.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const ca = options.overrideCa === undefined ? {} : { ca: options.overrideCa };
  const connect = createGuardedConnector(resolve, { connectTimeoutMs });
  const guarded = createCheckedPools({
    resolve,
    open: (origin) => new Pool(origin, { ...shared, connect }),
  });
  const overridden = new Agent({ ...shared, connect: { timeout: connectTimeoutMs, ...ca } });
  return {
    post: async (call) => {
      const { url, signal } = call;
      const target = overrides.get(hostOf(url));
      if (target !== undefined) return post(overridden, target.origin, call);
      const pool = await untilAborted(guarded.get(url), signal);
      return post(pool, url.origin, call);
    },
    close: async () => {
      await Promise.all([guarded.close(), overridden.destroy()]);
    },
  };
};

const post = async (connections: Agent | Pool, origin: string, call: Call): Promise<Answer> => {
  const { url, body, signal } = call;
  const asked = connections.request({
    origin,
    path: `${url.pathname}${url.search}`,
    method: "POST",
    headers: { ...call.headers, host: url.host },
    body,
    signal,
  });
  const answer = await untilAborted(asked, signal);
  return { status: answer.statusCode, drain: () => drain(answer.body) };
};

const drain = async (body: Dispatcher.ResponseData["body"]): Promise<void> => {
  await body.dump({ limit: answerBytesMax });
};

/**
 * DNS look-ups and requests that wait for a connection do not listen to the signal; after it, none
 * is sent.
 */
const untilAborted = <Out>(work: Promise<Out>, signal: AbortSignal): Promise<Out> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
