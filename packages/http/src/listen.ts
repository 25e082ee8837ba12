import { type RequestListener, type ServerResponse, createServer } from "node:http";
import { type AddressInfo, type Server, Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { answerBrokenRequest, answerHostless, isHostless } from "./broken-request.ts";

export type Listening = {
  port: number;
  /** From now on each answer tells its client to send nothing more on this connection. */
  drain: () => void;
  /** Stops listening, and resolves once every answer under way is out and its connection ended. */
  close: () => Promise<void>;
};

const closeMsMax = 10_000;
const pollMs = 10;
/**
 * How long idle connections are kept at the end: a quarter of a second, because a request may be on
 * its way. It is counted in looks, because a busy process hears of requests late.
 */
const idlePolls = 25;

/**
 * The answers under way on each connection. One set for all answers would be rehashed again and
 * again, and each old table would keep its answers alive until the next full garbage collection
 * (measured: four times the survivors). The one whose last request began first stands first.
 */
type Connections = Map<Socket, ServerResponse[]>;

/** The connections of a port. Those set apart count in no limit of it: who set them apart has one. */
type Held = { asking: Connections; apart: Connections };

const heldOf = new WeakMap<Socket, Held>();

/** Takes the connection of an endless answer out of those that a port counts. */
export const setApart = ({ req: { socket } }: ServerResponse): void => {
  const held = heldOf.get(socket);
  const answers = held?.asking.get(socket);
  if (held === undefined || answers === undefined) return;
  held.asking.delete(socket);
  held.apart.set(socket, answers);
};

/** Somebody else holds the port. The message says which port, and which variable changes it. */
export class PortTakenError extends Error {}

type ListenOptions = {
  handler: RequestListener;
  host: string;
  port: number;
  variable: string;
  connectionsMax?: number;
};

/** Each may hold 64 KiB of a body and 16 KiB of a head for as long as its request may take. */
const connectionsMaxDefault = 2_500;
/** Requests that a client may send on one connection before the first of them is answered. */
const pipelinedMax = 100;
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

/** Listens, and resolves once connections are accepted. Throws PortTakenError. */
export const listen = async ({
  handler,
  host,
  port,
  variable,
  connectionsMax = connectionsMaxDefault,
}: ListenOptions): Promise<Listening> => {
  const held: Held = { asking: new Map(), apart: new Map() };
  const connections = held.asking;
  let isDraining = false;
  const serve: RequestListener = (req, res) =>
    isHostless(req) ? answerHostless(res) : handler(req, res);
  const server = createServer({ ...timeouts, requireHostHeader: false }, (req, res) => {
    const { socket } = req;
    const answers = moveToEnd(connections, socket) ?? held.apart.get(socket) ?? [];
    const before = answers.at(-1);
    holdUntilClosed(answers, res);
    if (isDraining) res.setHeader("Connection", "close");
    if (before === undefined) serve(req, res);
    else if (answers.length > pipelinedMax) socket.destroy();
    else before.once("close", () => void (socket.destroyed || serve(req, res)));
  });
  // What a client expects and nobody knows is passed over (RFC 9110, section 10.1.1).
  server.on("checkExpectation", (req, res) => server.emit("request", req, res));
  server.on("connection", (socket: Socket) => {
    if (connections.size >= connectionsMax) makeRoom(connections);
    if (connections.size >= connectionsMax) return void socket.destroy();
    connections.set(socket, []);
    heldOf.set(socket, held);
    socket.once("close", () => connections.delete(socket) || held.apart.delete(socket));
  });
  server.on("clientError", (error: Error, stream) => {
    const socket = stream as Socket;
    const answers = connections.get(socket) ?? held.apart.get(socket) ?? [];
    answerBrokenRequest(error, socket, answers);
  });
  await start(server, { host, port, variable });
  const drain = () => {
    isDraining = true;
    for (const answers of connections.values()) {
      for (const res of answers) if (!res.headersSent) res.setHeader("Connection", "close");
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    drain,
    close: () => {
      drain();
      return close(server, held);
    },
  };
};

/** So that the connections stand in the order in which they last began a request. */
const moveToEnd = (connections: Connections, socket: Socket): ServerResponse[] | undefined => {
  const answers = connections.get(socket);
  if (connections.delete(socket) && answers !== undefined) connections.set(socket, answers);
  return answers;
};

/** Ends the connection that has asked nothing for the longest time, if no answer is under way on it. */
const makeRoom = (connections: Connections): void => {
  for (const [socket, answers] of connections) {
    if (answers.length > 0) continue;
    connections.delete(socket);
    socket.destroy();
    return;
  }
};

const holdUntilClosed = (answers: ServerResponse[], res: ServerResponse): void => {
  answers.push(res);
  res.once("close", () => answers.splice(answers.indexOf(res), 1));
};

const start = (
  server: Server,
  { host, port, variable }: Omit<ListenOptions, "handler">,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE";
      const text = `Port ${port} on ${host} is taken; free it, or set ${variable} to another.`;
      reject(isTaken ? new PortTakenError(text) : error);
    };
    server.once("error", fail);
    server.listen({ host, port, backlog: backlogMax }, () => {
      server.off("error", fail);
      resolve();
    });
  });

/**
 * HTTP's own `close` would destroy connections that only look idle: a request may be on its way, or
 * the last bytes of an answer unsent. So only the listening ends here. Each connection ends after
 * its answer, or after the grace.
 */
const close = async (server: Server, { asking, apart }: Held): Promise<void> => {
  NetServer.prototype.close.call(server);
  const startedAt = performance.now();
  for (let polls = 0; asking.size + apart.size > 0; polls += 1) {
    const isOverdue = performance.now() - startedAt >= closeMsMax;
    for (const [socket, answers] of [...asking, ...apart]) {
      if (isOverdue) socket.destroy();
      else if (polls >= idlePolls && answers.length === 0) socket.destroySoon();
    }
    await sleep(pollMs);
  }
};
