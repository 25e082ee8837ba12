import { type Link, trace } from "@opentelemetry/api";
import { extractTraceContext } from "@payment-links/runtime";

/** A span for many events links to this many of their traces. */
const linksMax = 32;

/** Links to the traces of events; none if nothing is traced. */
export const createSpanLinks = (traceparents: readonly (string | null | undefined)[]): Link[] =>
  traceparents.flatMap(toSpanLinks).slice(0, linksMax);

const toSpanLinks = (traceparent: string | null | undefined): Link[] => {
  if (traceparent === null || traceparent === undefined) return [];
  const context = trace.getSpanContext(extractTraceContext(traceparent));
  return context === undefined ? [] : [{ context }];
};
