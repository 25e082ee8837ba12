import { type DestinationStream, type Logger, pino } from "pino";
import { isSpanContextValid, trace } from "@opentelemetry/api";

export type Log = Logger;

/** The log levels from least to most verbose. `silent` logs nothing. */
export const logLevels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;

const isLogLevel = (value: string): boolean => logLevels.some((level) => level === value);

/**
 * Matches field names that can hold a secret, ignoring case, dashes and underscores. Only the last
 * word matters, so `tokenAddress` and `secretPrefix` do not match.
 */
const secretNamePattern =
  /(?:secrets?|secretkeys?|passwords?|tokens?|cookies?|signatures?|authorization|apikeys?|privatekey|databaseurl|redisurl|signinurl)$|^keys?$/;

const depthMax = 6;
const causesMax = 4;

/**
 * Creates a JSON log on stdout with one line per event and the ids of the active trace. Redacts
 * every field whose name can hold a secret, at every depth. Omits the properties that libraries add
 * to errors, because these can contain the values of a query. A process creates its log before it
 * parses its configuration. Therefore, an unknown level is treated as `info` here and rejected
 * later by the configuration (rule OPS-4).
 */
export const createLog = (
  { service, level }: { service: string; level: string },
  destination?: DestinationStream,
): Log =>
  pino(
    {
      level: isLogLevel(level) ? level : "info",
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      serializers: { err: (error: unknown) => describeError(error) },
      // The `log` formatter above does not apply to the bindings of a child logger.
      redact: { paths: ["key", "token", "secret", "password"], censor: maskSecret },
      mixin: () => {
        const context = trace.getActiveSpan()?.spanContext();
        return context !== undefined && isSpanContextValid(context)
          ? { trace_id: context.traceId, span_id: context.spanId }
          : {};
      },
    },
    ...(destination === undefined ? [] : [destination]),
  );

/** Returns only the type, message, code, stack and causes of an error. */
export const describeError = (error: unknown, depth = 0): Record<string, unknown> => {
  if (!(error instanceof Error)) return { message: "a thrown value is not an Error" };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const cause =
    error.cause !== undefined && depth < causesMax
      ? { cause: describeError(error.cause, depth + 1) }
      : {};
  return { type: error.name, message: error.message, ...code, stack: error.stack, ...cause };
};

const redactFields = (fields: Record<string, unknown>): Record<string, unknown> => {
  const seen = new WeakSet();
  const redactedEntries = Object.entries(fields).map(([name, value]) => [
    name,
    // pino's `err` serializer handles this field.
    name === "err" ? value : redactField(name, value, { depth: 1, seen }),
  ]);
  return Object.fromEntries(redactedEntries);
};

type RedactionState = { depth: number; seen: WeakSet<object> };

const redactField = (name: string, value: unknown, state: RedactionState): unknown =>
  secretNamePattern.test(name.replace(/[-_]/g, "").toLowerCase())
    ? maskSecret(value)
    : redactValue(value, state);

const maskSecret = (value: unknown): unknown => value && "[redacted]";

const redactValue = (value: unknown, { depth, seen }: RedactionState): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error) return describeError(value);
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if ("toJSON" in value) return value;
  if (depth >= depthMax || seen.has(value)) return "[more]";
  seen.add(value);
  const childState = { depth: depth + 1, seen };
  if (Array.isArray(value)) return value.map((item) => redactValue(item, childState));
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([name, nestedValue]) => [name, redactField(name, nestedValue, childState)]),
  );
};
