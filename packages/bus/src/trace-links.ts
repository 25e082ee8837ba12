import { type Link, trace } from "@opentelemetry/api";
import { continueTrace } from "@payment-links/runtime";

/** A span that stands for many events names so many of their traces. */
const linksMax = 32;

/** Links to the traces from which events come; none where nothing is traced. */
export const linksTo = (traceparents: readonly (string | null | undefined)[]): Link[] =>
  traceparents.flatMap(toLink).slice(0, linksMax);

const toLink = (traceparent: string | null | undefined): Link[] => {
  if (traceparent === null || traceparent === undefined) return [];
  const context = trace.getSpanContext(continueTrace(traceparent));
  return context === undefined ? [] : [{ context }];
};
