import { isIPv4 } from "node:net";
import * as z from "zod";
import { isAddressOrCidr } from "@payment-links/contracts";
import { isInsecureOrigin, isLocalOrigin, serveConfig } from "@payment-links/http";
import {
  CommaList,
  type Log,
  OriginUrl,
  RateLimit,
  BooleanFlag,
  logLevels,
} from "@payment-links/runtime";

/** The minimum level of the log lines that are written. */
export const LogLevel = z.enum(logLevels).default("info");

/**
 * Variables with the same meaning in every process, including the all-in-one process (rule OPS-3).
 */
const commonConfig = z
  .object({
    BASE_URL: OriginUrl.optional(),
    CHECKOUT_URL: OriginUrl.optional(),
    ALLOW_INSECURE_COOKIE: BooleanFlag.default(false),
    PUBLISHED_ON_LOOPBACK: BooleanFlag.default(false),
    RATE_LIMIT_PER_KEY: RateLimit.prefault("10:100"),
    RATE_LIMIT_PER_IP: RateLimit.prefault("20:200"),
    TRUSTED_PROXIES: CommaList.refine((proxies) => proxies.every(isAddressOrCidr), {
      error: "each value must be an address or a CIDR",
    }).default([]),
    CATALOGUE_FILE: z.string().optional(),
    LOG_LEVEL: LogLevel,
    OTEL_EXPORTER_OTLP_ENDPOINT: z
      .url({ protocol: /^https?$/, error: "must be an http or https URL" })
      .optional(),
    NODE_ENV: z.string().default("development"),
  })
  .superRefine((config, context) => {
    const { BASE_URL: baseUrl, ALLOW_INSECURE_COOKIE: isInsecureCookieAllowed } = config;
    if (baseUrl === undefined || isInsecureCookieAllowed || !isInsecureOrigin(baseUrl)) return;
    context.addIssue({
      code: "custom",
      path: ["BASE_URL"],
      message:
        "is plain http on a host that is not loopback, so session cookies would cross the network " +
        "in the clear; use https, or set ALLOW_INSECURE_COOKIE=1",
    });
  });
export type CommonConfig = z.output<typeof commonConfig>;

const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));

/**
 * The variables of a process with a public listener. Rejects a HOST that other machines can reach
 * if BASE_URL is plain HTTP on loopback. Otherwise, session cookies meant for loopback would cross
 * the network unencrypted (rule CALLER-39).
 */
export const publicConfig = commonConfig.and(serveConfig).superRefine((config, context) => {
  const { ALLOW_INSECURE_COOKIE: isInsecureCookieAllowed, BASE_URL: baseUrl, HOST: host } = config;
  if (isInsecureCookieAllowed || config.PUBLISHED_ON_LOOPBACK || isLoopbackHost(host)) return;
  if (baseUrl !== undefined && !isLocalOrigin(baseUrl)) return;
  context.addIssue({
    code: "custom",
    path: ["BASE_URL"],
    message:
      "is not set, or is plain http on a loopback host, but HOST can be reached from other machines, so " +
      "session cookies would cross the network in the clear; set BASE_URL to the https address that " +
      "browsers use, or set PUBLISHED_ON_LOOPBACK=1 if only this machine can reach the port, such as a " +
      "container's port that is published on 127.0.0.1",
  });
});

/** Logs a warning at every start if the configuration allows insecure cookies (rule CALLER-8). */
export const warnAboutInsecureCookie = (
  { ALLOW_INSECURE_COOKIE: isInsecureCookieAllowed }: CommonConfig,
  log: Log,
): void => {
  if (isInsecureCookieAllowed) log.warn("ALLOW_INSECURE_COOKIE is set: sessions can be stolen");
};

const brokerPattern = /^(?:[^\s:/@]+|\[[\da-fA-F:.]+\]):\d{1,5}$/;

/** The settings of the connection to the Kafka brokers. */
export const kafkaConfig = z
  .object({
    KAFKA_BROKERS: CommaList.refine((brokers) => brokers.length > 0, {
      error: "is empty",
    }).refine((brokers) => brokers.every((broker) => brokerPattern.test(broker)), {
      error: "each value must be <host>:<port>",
    }),
    KAFKA_TOPIC_PREFIX: z
      .string()
      .regex(/^[a-z0-9._-]{0,40}$/)
      .default(""),
    KAFKA_SSL: BooleanFlag.default(false),
    KAFKA_SASL_MECHANISM: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).optional(),
    KAFKA_SASL_USERNAME: z.string().default(""),
    KAFKA_SASL_PASSWORD: z.string().default(""),
  })
  .superRefine((config, context) => {
    if (config.KAFKA_SASL_MECHANISM === undefined) return;
    for (const name of ["KAFKA_SASL_USERNAME", "KAFKA_SASL_PASSWORD"] as const) {
      if (config[name] === "") {
        context.addIssue({
          code: "custom",
          path: [name],
          message: "is required because KAFKA_SASL_MECHANISM is set",
        });
      }
    }
  });
export type KafkaConfig = z.output<typeof kafkaConfig>;

/**
 * Returns whether the URL can be decoded. A `%` in a password must be written as `%25`. An
 * unescaped `%` would make the startup fail with an error that does not name the variable.
 */
const isDecodable = (url: string): boolean => {
  try {
    const { password, pathname, username } = new URL(url);
    for (const component of [username, password, pathname]) decodeURIComponent(component);
    return true;
  } catch {
    return false;
  }
};

/** The URL of the Postgres server, database and role to connect to. */
export const PostgresUrl = z
  .url({ protocol: /^postgres(?:ql)?$/, error: "must be a postgres URL", abort: true })
  .refine(isDecodable, {
    error: "contains a % that is not part of a percent-encoding; write it as %25",
  });

/**
 * The additional variables of a service that runs in its own process: its database, Kafka and
 * Redis.
 */
export const processConfig = z
  .object({
    DATABASE_URL: PostgresUrl,
    DATABASE_CONNECTIONS_MAX: z.coerce.number().int().min(1).max(200).default(10),
    REDIS_URL: z.url({ protocol: /^rediss?$/, error: "must be a redis or rediss URL" }),
    RATE_LIMIT_REPLICAS: z.coerce.number().int().min(1).max(1000).default(1),
    AUTH_KEYS_INTERNAL_URL: OriginUrl.default("http://127.0.0.1:8081"),
    SETTLEMENT_LISTENER_INTERNAL_URL: OriginUrl.default("http://127.0.0.1:8081"),
  })
  .and(kafkaConfig)
  .and(publicConfig);
export type ProcessConfig = z.output<typeof processConfig>;
