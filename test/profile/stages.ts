import { percentile } from "../rig/percentile.ts";
import type { Span } from "../rig/spans.ts";

/** The stages of a payment from the provider's notice to the merchant's server. */
const stages = [
  "notice received",
  "notice committed, response sent",
  "event claimed by the listener's relay",
  "settlement event acknowledged by Kafka",
  "links-api starts to apply it",
  "applied by links-api",
  "event claimed by the relay of links-api",
  "link event acknowledged by Kafka",
  "dispatcher starts to create deliveries",
  "deliveries created",
  "attempt started",
  "first byte at the receiver",
] as const;

/** The times when a payment reached each stage, in milliseconds since the epoch. */
export type Stamps = readonly number[];

type StageRule = { service: string; name: RegExp; at: "startMs" | "endMs" };

/** The spans that mark the stages. The last stage has no span. */
const stageRules: readonly StageRule[] = [
  { service: "settlement-listener", name: /settlement-notices/, at: "startMs" },
  { service: "settlement-listener", name: /settlement-notices/, at: "endMs" },
  { service: "settlement-listener", name: /^send outbox$/, at: "startMs" },
  { service: "settlement-listener", name: /^send outbox$/, at: "endMs" },
  { service: "links-api", name: /^process .*settlements\.v1$/, at: "startMs" },
  { service: "links-api", name: /^process .*settlements\.v1$/, at: "endMs" },
  { service: "links-api", name: /^send outbox$/, at: "startMs" },
  { service: "links-api", name: /^send outbox$/, at: "endMs" },
  { service: "webhook-dispatcher", name: /^process .*payment-links\.v1$/, at: "startMs" },
  { service: "webhook-dispatcher", name: /^process .*payment-links\.v1$/, at: "endMs" },
  { service: "webhook-dispatcher", name: /^webhook attempt$/, at: "startMs" },
];

/**
 * Returns the timestamps of each trace whose spans are complete. `arrivals` maps a trace ID to the
 * time at which its first webhook arrived.
 */
export const createStamps = (
  spans: readonly Span[],
  arrivals: ReadonlyMap<string, number>,
): Stamps[] => {
  const byTrace = new Map<string, Span[]>([...arrivals.keys()].map((traceId) => [traceId, []]));
  for (const span of spans) {
    for (const { traceId } of [span, ...span.links]) byTrace.get(traceId)?.push(span);
  }
  return [...byTrace].flatMap(([traceId, traceSpans]) => {
    const times = stageRules.map(({ service, name, at }) => {
      const matchingSpans = traceSpans.filter(
        (span) => span.service === service && name.test(span.name),
      );
      return matchingSpans.toSorted((a, b) => a.startMs - b.startMs)[0]?.[at];
    });
    const stamps = [...times, arrivals.get(traceId)].filter((time) => time !== undefined);
    return stamps.length === stages.length ? [stamps] : [];
  });
};

/** The milliseconds until a stage since the previous stage, and since the first stage. */
export type StageTimes = {
  stage: string;
  stepP50: number;
  stepP99: number;
  sinceP50: number;
  sinceP99: number;
};

/** Computes the times of each stage except the first. */
export const computeStageTimes = (payments: readonly Stamps[]): StageTimes[] =>
  stages.slice(1).map((stage, index) => {
    const listDurations = (fromStage: number) =>
      payments.map(
        (stamps) => (stamps[index + 1] ?? Number.NaN) - (stamps[fromStage] ?? Number.NaN),
      );
    const [stepMs, sinceFirstMs] = [listDurations(index), listDurations(0)];
    return {
      stage,
      stepP50: percentileOf(stepMs, 0.5),
      stepP99: percentileOf(stepMs, 0.99),
      sinceP50: percentileOf(sinceFirstMs, 0.5),
      sinceP99: percentileOf(sinceFirstMs, 0.99),
    };
  });

const percentileOf = (durations: readonly number[], share: number): number =>
  Number(percentile(durations, share).toFixed(1));
