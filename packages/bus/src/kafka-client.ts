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
  /** TLS; `true` trusts the system's certificate authorities. */
  ssl?: boolean | ConnectionOptions;
  sasl?: SASLOptions;
};

/** Creates a kafkajs client without connecting it. */
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
 * Matches kafkajs errors and warnings that usually belong to normal operation, such as rebalancing
 * groups, loading coordinators and existing topics. They are logged at debug level, because our own
 * log lines report real problems.
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

/** Sockets that can all be destroyed together. After that, `factory` throws. */
export type DestroyableSockets = { factory: ISocketFactory; destroyAll: () => void };

const keepAliveDelayMs = 60_000;

/** Creates sockets the way kafkajs does, and tracks them. */
export const createDestroyableSockets = (): DestroyableSockets => {
  const sockets = new Set<net.Socket>();
  let areDestroyed = false;
  return {
    factory: ({ host, port, ssl, onConnect }) => {
      if (areDestroyed) throw new Error("the producer was abandoned");
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
      // kafkajs ignores a close event without an error, and its requests would then wait for their
      // timeouts.
      for (const socket of sockets) socket.destroy(new Error("the producer was abandoned"));
    },
  };
};
