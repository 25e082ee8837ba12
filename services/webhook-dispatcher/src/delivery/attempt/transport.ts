import { Agent, type Dispatcher, Pool, buildConnector } from "undici";
import type { Clock } from "@payment-links/runtime";
import { createGuardedConnector } from "../../guard/guarded-connector.ts";
import type { HostOverrides } from "../../guard/host-overrides.ts";
import { cacheDnsLookups } from "../../guard/cache-dns-lookups.ts";
import type { Resolve } from "../../guard/resolver.ts";
import { getHostname } from "../../guard/webhook-url.ts";
import { createCheckedPools } from "./checked-pools.ts";
import { type CallHandler, SingleConnection } from "./single-connection.ts";

/** One POST to a receiver. */
type Call = {
  url: URL;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
};

/** Sends requests to receivers. All deliveries go through it. */
export type Transport = {
  /**
   * Resolves with the status after discarding the rest of the response. Stops reading after a few
   * KiB or when the signal aborts. A response that is malformed after its status line also has a
   * status (rule HOOK-19). Throws if there is no status line.
   */
  post(call: Call): Promise<number>;
  /** Closes all connections. Call it only when no request is in progress. */
  close(): Promise<void>;
};

type TransportOptions = {
  resolve: Resolve;
  clock: Clock;
  overrides: HostOverrides;
  /**
   * The maximum number of connections per origin. It equals the number of concurrent attempts, so
   * that no attempt waits for a connection.
   */
  connectionsMax: number;
  connectTimeoutMs: number;
  /** An additional certificate authority for overridden https origins. */
  overrideCa?: string;
};

const bodyBytesMax = 16 * 1024;
/** Twice the limit of the body, because undici accepts the same number of bytes for headers. */
const responseBytesMax = 2 * bodyBytesMax;
/**
 * The lowest status of a final response. Any number of informational responses can precede it (RFC
 * 9110, section 15.2).
 */
const finalStatusMin = 200;
const keepAliveMs = 4_000;
const keepAliveHintMsMax = 60_000;
const connectionTtlMs = 10 * 60_000;

/**
 * Creates the transport. Only the guarded connector opens connections. A connection stays open for
 * at most ten minutes, and only while DNS returns the same addresses for the host. Overridden hosts
 * use a separate agent. The transport ignores proxy variables, does not follow redirects and does
 * not decompress responses.
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
    // The caller's signal is the only deadline. Undici's timeouts would restart at each byte of a
    // slow response.
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

/**
 * Dispatches the request directly. Undici's `request` creates a stream for each response, which
 * costs as much as the request itself.
 */
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
        // The deadline passed while the request waited for a connection.
        if (signal.aborted) requestController.abort(signal.reason);
      },
      onAnswerStart: (responseStart) => {
        status = responseStart.status;
        // Undici closes a connection after a malformed response, but it never sees informational
        // ones, so a malformed one is handled here.
        if (!responseStart.isWellFormed)
          controller?.abort(new Error("malformed informational response"));
      },
      // After a 101 that does not switch protocols, only undici can parse the final status.
      onResponseStart: (_, statusCode) => {
        if (statusCode >= finalStatusMin) status = statusCode;
      },
      onResponseData: (responseController, chunk) => {
        bodyBytes += chunk.length;
        if (bodyBytes > bodyBytesMax) responseController.abort(new Error("response too long"));
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

/** Rejects when the signal aborts. Needed because a DNS lookup ignores the signal. */
const rejectOnAbort = <Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
