import { Agent, type Dispatcher, Pool, buildConnector } from "undici";
import type { Clock } from "@payment-links/runtime";
import { createGuardedConnector } from "../../guard/guarded-connector.ts";
import type { HostOverrides } from "../../guard/host-overrides.ts";
import { cacheDnsLookups } from "../../guard/cache-dns-lookups.ts";
import type { Resolve } from "../../guard/resolver.ts";
import { getHostname } from "../../guard/webhook-url.ts";
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
const responseBytesMax = 2 * bodyBytesMax;
/** An answer begins with any number of informational ones (RFC 9110, section 15.2). */
const finalStatusMin = 200;
const keepAliveMs = 4_000;
const keepAliveHintMsMax = 60_000;
const connectionTtlMs = 10 * 60_000;

/**
 * Opens the transport. Connections are made only by the guarded connector, kept alive for as long
 * as DNS says the same of their host, and replaced after ten minutes at the latest. Overridden
 * hosts have an agent of their own. Proxy variables are not read, redirects not followed, answers
 * not decompressed.
 */
export const createTransport = (options: TransportOptions): Transport => {
  const { overrides, connectTimeoutMs, connectionsMax: connections } = options;
  const resolve = cacheDnsLookups(options.resolve, options);
  const poolOptions = {
    connections,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveHintMsMax,
    clientTtl: connectionTtlMs,
    // The caller's signal is the one deadline: undici's own would start again at each byte of a
    // dripping answer.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const caOptions = options.overrideCa === undefined ? {} : { ca: options.overrideCa };
  const createPool = (origin: string | URL, connect: buildConnector.connector): Pool =>
    new Pool(origin, {
      ...poolOptions,
      factory: (url, clientOptions) =>
        new SingleConnection(url, { ...clientOptions, connect, responseBytesMax }),
    });
  const guardedConnector = createGuardedConnector(resolve, { connectTimeoutMs });
  const overrideConnector = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    ...caOptions,
  });
  const checkedPools = createCheckedPools({
    resolve,
    createPool: (origin) => createPool(origin, guardedConnector),
  });
  const overrideAgent = new Agent({
    ...poolOptions,
    factory: (origin) => createPool(origin, overrideConnector),
  });
  return {
    post: async (call) => {
      const { url, signal } = call;
      const overrideUrl = overrides.get(getHostname(url));
      if (overrideUrl !== undefined) return dispatchPost(overrideAgent, overrideUrl.origin, call);
      const pool = await rejectOnAbort(checkedPools.get(url), signal);
      return dispatchPost(pool, url.origin, call);
    },
    close: async () => {
      await Promise.all([checkedPools.close(), overrideAgent.destroy()]);
    },
  };
};

/** Undici's own `request` makes a stream of each answer, which costs as much as sending the call. */
const dispatchPost = (dispatcher: Agent | Pool, origin: string, call: Call): Promise<number> =>
  new Promise((resolve, reject) => {
    const { url, body, signal } = call;
    let controller: Dispatcher.DispatchController | undefined;
    let status: number | undefined;
    let bodyBytes = 0;
    const settle = (error?: unknown): void => {
      signal.removeEventListener("abort", abort);
      if (status === undefined) reject(error);
      else resolve(status);
    };
    const abort = (): void => {
      controller?.abort(signal.reason);
      settle(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    const handler: CallHandler = {
      onRequestStart: (requestController) => {
        controller = requestController;
        // It waited for a connection until its time was over.
        if (signal.aborted) requestController.abort(signal.reason);
      },
      onAnswerStart: (responseStart) => {
        status = responseStart.status;
        // Undici closes a connection whose answer breaks HTTP's rules; this answer it does not see.
        if (!responseStart.isWellFormed)
          controller?.abort(new Error("an informational answer is malformed"));
      },
      // Behind a 101 that changes no protocol, undici alone reads the status.
      onResponseStart: (_, statusCode) => {
        if (statusCode >= finalStatusMin) status = statusCode;
      },
      onResponseData: (responseController, chunk) => {
        bodyBytes += chunk.length;
        if (bodyBytes > bodyBytesMax) responseController.abort(new Error("the answer is long"));
      },
      onResponseEnd: () => settle(),
      onResponseError: (_, error) => settle(error),
    };
    dispatcher.dispatch(
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
const rejectOnAbort = <Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
