import { type Link, trace } from "@opentelemetry/api";
import { extractTraceContext } from "@payment-links/runtime";

/** The maximum number of traces that a span for many events links to. */
const linksMax = 32;

/** Returns links to the traces of events; empty if none is traced. */
export const createSpanLinks = (traceparents: readonly (string | null | undefined)[]): Link[] =>
  traceparents.flatMap(toSpanLinks).slice(0, linksMax);

const toSpanLinks = (traceparent: string | null | undefined): Link[] => {
  if (traceparent === null || traceparent === undefined) return [];
  const context = trace.getSpanContext(extractTraceContext(traceparent));
  return context === undefined ? [] : [{ context }];
};
