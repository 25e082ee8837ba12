import { type RequestListener, createServer } from "node:http";
import { type AddressInfo, type Server, Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, afterMs, systemClock } from "@payment-links/runtime";
import {
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
  /** From now on each answer tells its client to send nothing more on this connection. */
  drain: () => void;
  /** Stops listening, and resolves once every answer under way is out and its connection ended. */
  close: () => Promise<void>;
  /** How many connections are open, by what they do. */
  countConnections: () => Record<ConnectionState, number>;
  /** How many connections the server ended or refused, by reason. */
  countEndedConnections: () => ReadonlyMap<EndReason, number>;
};

const closeMsMax = 10_000;
const closePollMs = 10;
/**
 * How long idle connections are kept at the end: a quarter of a second, because a request may be on
 * its way. It is counted in looks, because a busy process hears of requests late.
 */
const idlePollsMax = 25;

/** Somebody else holds the port. The message says which port, and which variable changes it. */
export class PortInUseError extends Error {}

type ListenOptions = {
  handler: RequestListener;
  host: string;
  port: number;
  portVariable: string;
  limits?: Partial<ConnectionLimits>;
  /** Whether the limits per address do not apply to an address, as for a trusted proxy. */
  isExempt?: (address: string) => boolean;
  /** The address of a connection's client. */
  getClientAddress?: (socket: Socket) => string | undefined;
  clock?: Clock;
};

/** An unread body takes up to 64 KiB, a head up to 16 KiB. */
export const connectionLimits: ConnectionLimits = {
  total: 2_500,
  perAddress: 256,
  unreadBodiesTotal: 1_000,
  unreadBodiesPerAddress: 64,
};
/**
 * Requests that a client may send on one connection before the first of them is answered. Node parses
 * each that arrives, and keeps 2 KB of it until then.
 */
const pipelinedRequestsMax = 10;
/**
 * Connections that wait to be taken. All readers of a process that stops come to another within two
 * seconds; whom a full queue drops tries again after 1, 3, 7, 15 s. Linux lets it be 4,096 by itself.
 */
const backlogMax = 4_096;
/** Node looks at slow requests this often, and not for as long as one may take. */
const timeouts = {
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 65_000,
};

/** Listens, and resolves once connections are accepted. Throws PortInUseError. */
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
  const server = createServer({ ...timeouts, requireHostHeader: false }, (req, res) => {
    const { socket } = req;
    // The parser goes on to the end of what it was given.
    if (socket.destroyed) return;
    const previousResponse = connections.getPendingResponses(socket).at(-1);
    const pendingResponses = connections.registerRequest(req, res);
    if (isDraining) res.setHeader("Connection", "close");
    if (previousResponse === undefined) serveRequest(req, res);
    else if (pendingResponses.length > pipelinedRequestsMax) socket.destroy();
    else previousResponse.once("close", () => void (socket.destroyed || serveRequest(req, res)));
  });
  // What a client expects and nobody knows is passed over (RFC 9110, section 10.1.1).
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
      const message = `Port ${port} on ${host} is taken; free it, or set ${portVariable} to another.`;
      reject(isPortInUse ? new PortInUseError(message) : error);
    };
    server.once("error", rejectStart);
    server.listen({ host, port, backlog: backlogMax }, () => {
      server.off("error", rejectStart);
      resolve();
    });
  });

/**
 * HTTP's own `close` would destroy connections that only look idle: a request may be on its way, or
 * the last bytes of an answer unsent. So only the listening ends here. Each connection ends after
 * its answer, or after the grace.
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
