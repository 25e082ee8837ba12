import { type RequestListener, type ServerResponse, createServer } from "node:http";
import { type AddressInfo, type Server, Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, afterMs, systemClock } from "@payment-links/runtime";
import { createRequestClass } from "./chunk-limited-request.ts";
import {
  sendErrorAndClose,
  sendMalformedRequestError,
  sendMissingHostError,
  lacksHostHeader,
} from "./malformed-request.ts";
import type { ConnectionState } from "./connection-progress.ts";
import {
  type ConnectionLimits,
  type Connections,
  type EndReason,
  createConnections,
  sweepMs,
} from "./connections.ts";

export type HttpListener = {
  port: number;
  /** Makes each response from now on ask its client to close the connection. */
  drain: () => void;
  /**
   * Stops listening. Resolves when every pending response has been sent and every connection is
   * closed.
   */
  close: () => Promise<void>;
  /** Returns the number of open connections by state. */
  countConnections: () => Record<ConnectionState, number>;
  /** Returns how many connections the server closed or rejected, by reason. */
  countEndedConnections: () => ReadonlyMap<EndReason, number>;
};

const closeMsMax = 10_000;
const closePollMs = 10;
/**
 * How long idle connections stay open during close: 250 ms, because a request may be on its way.
 * The time is counted in polls, because a busy process reads requests late.
 */
const idlePollsMax = 25;

/**
 * Another process uses the port. The message contains the port and the variable that configures it.
 */
export class PortInUseError extends Error {}

type ListenOptions = {
  handler: RequestListener;
  host: string;
  port: number;
  portVariable: string;
  limits?: Partial<ConnectionLimits>;
  /** Returns whether the address is exempt from the per-address limits, like a trusted proxy. */
  isExempt?: (address: string) => boolean;
  /** Returns the client address of a connection. */
  getClientAddress?: (socket: Socket) => string | undefined;
  clock?: Clock;
};

/**
 * These limits bound memory: an unread body takes up to 64 KiB and 300 KB for its chunks, headers up to
 * 16 KiB.
 */
export const connectionLimits: ConnectionLimits = {
  total: 2_500,
  perAddress: 256,
  unreadBodiesTotal: 1_000,
  unreadBodiesPerAddress: 64,
};
/**
 * The maximum number of requests that a client can pipeline on one connection. Node parses each
 * request on arrival, and a waiting request takes 2 KB. Browsers and common HTTP clients do not
 * pipeline requests.
 */
const pipelinedRequestsMax = 4;
/**
 * The length of the accept queue. When a process stops, all its streams reconnect to another
 * process within two seconds. If the queue is full, the client's TCP handshake is retried after 1,
 * 3, 7 and 15 s. 4,096 is Linux's default maximum.
 */
const backlogMax = 4_096;
/**
 * Node checks for slow requests at `connectionsCheckingInterval`, which is shorter than all of the
 * timeouts.
 */
const timeouts = {
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 65_000,
};

/** Starts listening and resolves once connections are accepted. Throws `PortInUseError`. */
export const listen = async ({
  handler,
  host,
  port,
  portVariable,
  limits,
  isExempt = () => false,
  getClientAddress = (socket) => socket.remoteAddress,
  clock = systemClock,
}: ListenOptions): Promise<HttpListener> => {
  const connections = createConnections({
    limits: { ...connectionLimits, ...limits },
    isExempt,
    getClientAddress,
    clock,
  });
  let isDraining = false;
  const serveRequest: RequestListener = (req, res) =>
    lacksHostHeader(req) ? sendMissingHostError(res) : handler(req, res);
  const ChunkLimitedRequest = createRequestClass(({ socket }) =>
    sendErrorAndClose("BAD_REQUEST", socket, connections.getPendingResponses(socket)),
  );
  const serverOptions = {
    ...timeouts,
    requireHostHeader: false,
    IncomingMessage: ChunkLimitedRequest,
  };
  const server = createServer(serverOptions, (req, res) => {
    const { socket } = req;
    // A destroyed socket can still emit a request that was parsed before.
    if (socket.destroyed) return;
    const previousResponse = connections.getPendingResponses(socket).at(-1);
    const pendingResponses = connections.registerRequest(req, res);
    if (isDraining) res.setHeader("Connection", "close");
    if (previousResponse === undefined) serveRequest(req, res);
    // A request behind a stream would wait, with its body, until the stream ends.
    else if (pendingResponses.length > pipelinedRequestsMax || connections.isStream(socket))
      destroyAndStopParsing(socket);
    else serveAfterResponse(previousResponse, socket, () => serveRequest(req, res));
  });
  // Unknown expectations are ignored (RFC 9110, section 10.1.1).
  server.on("checkExpectation", (req, res) => server.emit("request", req, res));
  server.on("connection", connections.accept);
  server.on("clientError", (error: Error, stream) => {
    const socket = stream as Socket;
    sendMalformedRequestError(error, socket, connections.getPendingResponses(socket));
  });
  await startListening(server, { host, port, portVariable });
  const closeAbort = new AbortController();
  void endSlowConnectionsUntil(closeAbort.signal, clock, connections);
  const drain = () => {
    isDraining = true;
    for (const { pendingResponses } of connections.getOpenConnections().values()) {
      for (const res of pendingResponses)
        if (!res.headersSent) res.setHeader("Connection", "close");
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    drain,
    close: async () => {
      drain();
      await closeServer(server, connections);
      closeAbort.abort();
    },
    countConnections: connections.countStates,
    countEndedConnections: connections.getEndCounts,
  };
};

/** Serves a pipelined request after the previous response, or drops it if that was rate limited. */
const serveAfterResponse = (
  previousResponse: ServerResponse,
  socket: Socket,
  serve: () => void,
): void => {
  previousResponse.once("close", () => {
    if (socket.destroyed) return;
    // A flood of pipelined requests over the rate limit would otherwise cost a response each.
    if (previousResponse.statusCode === 429) socket.destroySoon();
    else serve();
  });
};

/** Node's parser stops when `onIncoming` returns this, because another protocol follows. */
const upgradeResult = 2;

/**
 * Destroys a connection and stops its parser. By itself, Node's parser continues to the end of its
 * input, and 64 KiB of the shortest requests take 75 ms. There is no public function to stop it.
 */
const destroyAndStopParsing = (socket: Socket): void => {
  socket.destroy();
  const parser: unknown = Reflect.get(socket, "parser");
  if (typeof parser === "object" && parser !== null)
    Reflect.set(parser, "onIncoming", () => upgradeResult);
};

const endSlowConnectionsUntil = async (
  signal: AbortSignal,
  clock: Clock,
  connections: Connections,
): Promise<void> => {
  for (;;) {
    await clock.sleepUntil(afterMs(clock, sweepMs), signal);
    if (signal.aborted) return;
    connections.endSlowConnections();
  }
};

const startListening = (
  server: Server,
  { host, port, portVariable }: Omit<ListenOptions, "handler">,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const rejectStart = (error: NodeJS.ErrnoException) => {
      const isPortInUse = error.code === "EADDRINUSE";
      const message = `Port ${port} on ${host} is in use. Free it, or set ${portVariable} to another port.`;
      reject(isPortInUse ? new PortInUseError(message) : error);
    };
    server.once("error", rejectStart);
    server.listen({ host, port, backlog: backlogMax }, () => {
      server.off("error", rejectStart);
      resolve();
    });
  });

/**
 * Stops listening. Closes each connection after its response, or after the idle grace period. The
 * `close` of Node's HTTP server would destroy connections that only look idle: a request may be on
 * its way, or the last bytes of a response may not have been sent.
 */
const closeServer = async (server: Server, connections: Connections): Promise<void> => {
  NetServer.prototype.close.call(server);
  const startedAt = performance.now();
  const openConnections = connections.getOpenConnections();
  for (let polls = 0; openConnections.size > 0; polls += 1) {
    const isOverdue = performance.now() - startedAt >= closeMsMax;
    for (const [socket, { pendingResponses }] of openConnections) {
      if (isOverdue) socket.destroy();
      else if (polls >= idlePollsMax && pendingResponses.length === 0) socket.destroySoon();
    }
    await sleep(closePollMs);
  }
};
