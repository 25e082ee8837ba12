import net from "node:net";
import tls, { type ConnectionOptions } from "node:tls";
import {
  type ISocketFactory,
  Kafka,
  type KafkaConfig,
  type LogEntry,
  type SASLOptions,
  logLevel,
} from "kafkajs";
import type { Log } from "@payment-links/runtime";
import { patchKafkaIdlePolling } from "./patch-kafka-idle.ts";

const connectTimeoutMs = 2_000;
export const requestTimeoutMs = 5_000;

/** How to reach the brokers. */
export type KafkaConnection = {
  brokers: readonly string[];
  clientId: string;
  log: Log;
  /** TLS; `true` trusts the system's authorities. */
  ssl?: boolean | ConnectionOptions;
  sasl?: SASLOptions;
};

/** Opens a kafkajs client; nothing is connected yet. */
export const createKafkaClient = (
  { brokers, clientId, log, ssl, sasl }: KafkaConnection,
  overrides: Pick<KafkaConfig, "retry" | "socketFactory"> = {},
): Kafka => {
  patchKafkaIdlePolling(log);
  return new Kafka({
    brokers: [...brokers],
    clientId,
    connectionTimeout: connectTimeoutMs,
    requestTimeout: requestTimeoutMs,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 },
    logLevel: logLevel.INFO,
    logCreator: () => createLogWriter(log),
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl }),
    ...overrides,
  });
};

/**
 * What kafkajs calls errors and warnings are mostly normal steps of the protocol: groups that
 * balance, coordinators that load, topics that exist. Our own lines tell what matters, so these are
 * debug.
 */
const protocolNoisePattern = new RegExp(
  [
    "rebalanc",
    "coordinator",
    "leadership election",
    "already exists",
    "not aware of this member",
    "Response (?:Heartbeat|InitProducerId|JoinGroup|SyncGroup|OffsetCommit|CreateTopics|Metadata)",
    "Response LeaveGroup",
    "Connection (?:error|timeout)",
    "Failed to connect",
    "seed broker",
    "Limiting retries",
    "has joined the group",
    "Stopped",
    "Starting",
    "Restarting",
    "not running",
  ].join("|"),
  "i",
);

const createLogWriter =
  (log: Log) =>
  ({ namespace, level, log: entry }: LogEntry): void => {
    const message = `kafkajs ${namespace}: ${entry.message}`;
    if (isDebugLevel(level) || protocolNoisePattern.test(entry.message)) log.debug(message);
    else log.warn(message);
  };

const isDebugLevel = (level: logLevel): boolean =>
  level === logLevel.INFO || level === logLevel.DEBUG;

/** Sockets that can all be cut at once. After that no new one is made. */
export type DestroyableSockets = { factory: ISocketFactory; destroyAll: () => void };

const keepAliveDelayMs = 60_000;

/** Makes sockets as kafkajs itself does, and remembers them. */
export const createDestroyableSockets = (): DestroyableSockets => {
  const sockets = new Set<net.Socket>();
  let areDestroyed = false;
  return {
    factory: ({ host, port, ssl, onConnect }) => {
      if (areDestroyed) throw new Error("this producer was given up");
      const socket = ssl
        ? tls.connect(
            { host, port, ...(net.isIP(host) ? {} : { servername: host }), ...ssl },
            onConnect,
          )
        : net.connect({ host, port }, onConnect);
      socket.setKeepAlive(true, keepAliveDelayMs);
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => sockets.delete(socket));
      return socket;
    },
    destroyAll: () => {
      areDestroyed = true;
      // With an error, because kafkajs notices no other end, and its requests would wait for their
      // time-outs.
      for (const socket of sockets) socket.destroy(new Error("this producer was given up"));
    },
  };
};
