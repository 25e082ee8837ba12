import { type DestinationStream, type Logger, pino } from "pino";
import { isSpanContextValid, trace } from "@opentelemetry/api";

export type Log = Logger;

const secretFields = [
  "apiKey",
  "authorization",
  "cookie",
  "key",
  "password",
  "secret",
  "secrets",
  "signature",
  "token",
];

const redactedPaths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/**
 * Opens the JSON log on stdout, one line per event, with the active trace's ids. Fields that by name
 * can hold a secret are blotted out; errors are written without the properties that libraries hang
 * on them, as a query's values would be among these.
 */
export const openLog = (
  { service, level }: { service: string; level: string },
  destination?: DestinationStream,
): Log =>
  pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths, censor: "[redacted]" },
      serializers: { err: describeError },
      mixin: () => {
        const context = trace.getActiveSpan()?.spanContext();
        return context !== undefined && isSpanContextValid(context)
          ? { trace_id: context.traceId, span_id: context.spanId }
          : {};
      },
    },
    ...(destination === undefined ? [] : [destination]),
  );

const causesMax = 4;

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
