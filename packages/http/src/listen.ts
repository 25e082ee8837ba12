import { type RequestListener, type ServerResponse, createServer } from "node:http";
import { type AddressInfo, type Server, Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { answerBrokenRequest } from "./broken-request.ts";

export type Listening = {
  port: number;
  /** From now on tells each client, with its answer, to send nothing more on its connection. */
  drain: () => void;
  /** Stops listening, and resolves once every answer under way is out and its connection ended. */
  close: () => Promise<void>;
};

const closeMsMax = 10_000;
const pollMs = 10;
/**
 * For how long idle connections are kept at the end, as a request may be on its way on one of them: a
 * quarter of a second. Counted in looks at them, since a busy process hears of requests late.
 */
const idlePolls = 25;

/**
 * The answers under way on each connection. Not one set of all answers: a set that changes with every
 * request is rehashed again and again, and each table that it leaves behind keeps its answers alive
 * until the next full garbage collection (measured: four times the survivors).
 */
type Connections = Map<Socket, ServerResponse[]>;

/** A port that somebody else holds; its message says which, and which variable changes it. */
export class PortTakenError extends Error {}

type ListenOptions = { handler: RequestListener; host: string; port: number; variable: string };

/** Listens, and resolves once connections are accepted. Throws PortTakenError. */
export const listen = async ({
  handler,
  host,
  port,
  variable,
}: ListenOptions): Promise<Listening> => {
  const connections: Connections = new Map();
  let isDraining = false;
  const server = createServer({ requestTimeout: 30_000, keepAliveTimeout: 65_000 }, (req, res) => {
    holdUntilClosed(connections.get(req.socket), res);
    if (isDraining) res.setHeader("Connection", "close");
    handler(req, res);
  });
  server.on("connection", (socket: Socket) => {
    connections.set(socket, []);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("clientError", (error: Error, stream) => {
    const socket = stream as Socket;
    answerBrokenRequest(error, socket, connections.get(socket) ?? []);
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
      return close(server, connections);
    },
  };
};

const holdUntilClosed = (answers: ServerResponse[] | undefined, res: ServerResponse): void => {
  answers?.push(res);
  res.once("close", () => answers?.splice(answers.indexOf(res), 1));
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
    server.listen({ host, port }, () => {
      server.off("error", fail);
      resolve();
    });
  });

/**
 * HTTP's own `close` would destroy connections that only look idle: ones with a request on its way, or
 * with the last bytes of an answer still to be sent. So only the listening ends here, and each
 * connection ends after its answer, or after the grace.
 */
const close = async (
  server: Server,
  connections: ReadonlyMap<Socket, readonly ServerResponse[]>,
): Promise<void> => {
  NetServer.prototype.close.call(server);
  const startedAt = performance.now();
  for (let polls = 0; connections.size > 0; polls += 1) {
    const isOverdue = performance.now() - startedAt >= closeMsMax;
    for (const [socket, answers] of connections) {
      if (isOverdue) socket.destroy();
      else if (polls >= idlePolls && answers.length === 0) socket.destroySoon();
    }
    await sleep(pollMs);
  }
};
