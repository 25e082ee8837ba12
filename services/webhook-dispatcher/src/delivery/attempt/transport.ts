import { Agent, type Dispatcher, Pool, buildConnector } from "undici";
import type { Clock } from "@payment-links/runtime";
import { createGuardedConnector } from "../../guard/guarded-connector.ts";
import type { HostOverrides } from "../../guard/host-overrides.ts";
import { rememberAnswers } from "../../guard/remember-answers.ts";
import type { Resolve } from "../../guard/resolver.ts";
import { hostOf } from "../../guard/webhook-url.ts";
import { createCheckedPools } from "./checked-pools.ts";
import { type CallHandler, SingleConnection } from "./single-connection.ts";

/** One POST to a stranger. */
type Call = {
  url: URL;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
};

/** The only way in which bytes reach a stranger. */
export type Transport = {
  /**
   * Ends with the status, once the rest of the answer is read and dropped: a few KiB of it at most, and
   * no longer than the call's signal lets it. An answer that breaks HTTP's rules behind its status line has
   * a status too (rule HOOK-19). Throws where there is no status line.
   */
  post(call: Call): Promise<number>;
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

const bodyBytesMax = 16 * 1024;
/** Undici takes as much again for headers. */
const answerBytesMax = 2 * bodyBytesMax;
/** An answer begins with any number of informational ones (RFC 9110, section 15.2). */
const finalStatusMin = 200;
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
  const openPool = (origin: string | URL, connect: buildConnector.connector): Pool =>
    new Pool(origin, {
      ...shared,
      factory: (url, client) => new SingleConnection(url, { ...client, connect, answerBytesMax }),
    });
  const guard = createGuardedConnector(resolve, { connectTimeoutMs });
  const override = buildConnector({ timeout: connectTimeoutMs, allowH2: false, ...ca });
  const guarded = createCheckedPools({ resolve, open: (origin) => openPool(origin, guard) });
  const overridden = new Agent({ ...shared, factory: (origin) => openPool(origin, override) });
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

/** Undici's own `request` makes a stream of each answer, which costs as much as sending the call. */
const post = (connections: Agent | Pool, origin: string, call: Call): Promise<number> =>
  new Promise((resolve, reject) => {
    const { url, body, signal } = call;
    let controller: Dispatcher.DispatchController | undefined;
    let status: number | undefined;
    let bodyBytes = 0;
    const end = (error?: unknown): void => {
      signal.removeEventListener("abort", abort);
      if (status === undefined) reject(error);
      else resolve(status);
    };
    const abort = (): void => {
      controller?.abort(signal.reason);
      end(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    const handler: CallHandler = {
      onRequestStart: (started) => {
        controller = started;
        // It waited for a connection until its time was over.
        if (signal.aborted) started.abort(signal.reason);
      },
      onAnswerStart: (start) => {
        status = start.status;
        // Undici closes a connection whose answer breaks HTTP's rules; this answer it does not see.
        if (!start.isWellFormed)
          controller?.abort(new Error("an informational answer is malformed"));
      },
      // Behind a 101 that changes no protocol, undici alone reads the status.
      onResponseStart: (_, statusCode) => {
        if (statusCode >= finalStatusMin) status = statusCode;
      },
      onResponseData: (answering, chunk) => {
        bodyBytes += chunk.length;
        if (bodyBytes > bodyBytesMax) answering.abort(new Error("the answer is long"));
      },
      onResponseEnd: () => end(),
      onResponseError: (_, error) => end(error),
    };
    connections.dispatch(
      {
        origin,
        path: `${url.pathname}${url.search}`,
        method: "POST",
        headers: { ...call.headers, host: url.host },
        body,
      },
      handler,
    );
  });

/** A DNS look-up does not listen to the signal. */
const untilAborted = <Out>(work: Promise<Out>, signal: AbortSignal): Promise<Out> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
