import { type DestinationStream, type Logger, pino } from "pino";
import { isSpanContextValid, trace } from "@opentelemetry/api";

export type Log = Logger;

/** How much a log tells, from little to much; `silent` is nothing. */
export const logLevels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;

const isLogLevel = (value: string): boolean => logLevels.some((level) => level === value);

/**
 * Names that can hold a secret, ignoring case, dashes and underscores. The last word counts, so
 * `tokenAddress` and `secretPrefix` are not among them.
 */
const secretNamePattern =
  /(?:secrets?|secretkeys?|passwords?|tokens?|cookies?|signatures?|authorization|apikeys?|privatekey|databaseurl|redisurl|signinurl)$|^keys?$/;

const depthMax = 6;
const causesMax = 4;

/**
 * Opens the JSON log on stdout, one line per event, with the active trace's ids. A field whose name
 * can hold a secret is blotted out at every depth. Errors are written without the properties that
 * libraries add, because a query's values would be among them. A process opens its log before it reads
 * its configuration, which then refuses a word that is no level (rule OPS-4); until then it is `info`.
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
      // A child's bindings do not pass the formatter above.
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

/** What a log line tells of an error: its type, text, code, stack and causes; nothing else. */
export const describeError = (error: unknown, depth = 0): Record<string, unknown> => {
  if (!(error instanceof Error)) return { message: "a value that is no error was thrown" };
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
    // Its own serializer describes it.
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
