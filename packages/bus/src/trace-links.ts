import { type Link, trace } from "@opentelemetry/api";
import { continueTrace } from "@payment-links/runtime";

/** A span for many events links to this many of their traces. */
const linksMax = 32;

/** Links to the traces of events; none if nothing is traced. */
export const linksTo = (traceparents: readonly (string | null | undefined)[]): Link[] =>
  traceparents.flatMap(toLink).slice(0, linksMax);

const toLink = (traceparent: string | null | undefined): Link[] => {
  if (traceparent === null || traceparent === undefined) return [];
  const context = trace.getSpanContext(continueTrace(traceparent));
  return context === undefined ? [] : [{ context }];
};
