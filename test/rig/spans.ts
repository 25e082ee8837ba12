import * as z from "zod";

/** A span of a service. Times are in milliseconds since the epoch. */
export type Span = {
  service: string;
  name: string;
  startMs: number;
  endMs: number;
  traceId: string;
  /** The traces that the span links to. */
  links: readonly { traceId: string }[];
};

const Nanoseconds = z.string().transform((text) => Number(text) / 1e6);

const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({
        attributes: z.array(
          z.object({ key: z.string(), value: z.object({ stringValue: z.string().optional() }) }),
        ),
      }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              name: z.string(),
              startTimeUnixNano: Nanoseconds,
              endTimeUnixNano: Nanoseconds,
              links: z.array(z.object({ traceId: z.string() })).default([]),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** Parses spans from concatenated OTLP/JSON exports. */
export const parseSpans = (received: string): Span[] =>
  received
    .split(/(?=\{"resourceSpans":)/)
    .filter((text) => text !== "")
    .flatMap((text) => Export.parse(JSON.parse(text)).resourceSpans)
    .flatMap(({ resource, scopeSpans }) => {
      const serviceAttribute = resource.attributes.find(({ key }) => key === "service.name");
      const service = serviceAttribute?.value.stringValue ?? "";
      return scopeSpans.flatMap(({ spans }) =>
        spans.map(({ startTimeUnixNano: startMs, endTimeUnixNano: endMs, ...span }) => ({
          ...span,
          service,
          startMs,
          endMs,
        })),
      );
    });
