/** The windows of the recorded ratios, in minutes. */
export const windowMinutes = {
  "5m": 5,
  "30m": 30,
  "1h": 60,
  "2h": 120,
  "6h": 360,
  "1d": 1_440,
  "3d": 4_320,
} as const;
export type Window = keyof typeof windowMinutes;

/** A service level objective and the metrics that measure it. */
export type Slo = {
  /** The `slo` label of the recorded series. */
  name: string;
  /** The alert that fires when the budget burns too fast. */
  alert: string;
  objectiveText: string;
  /** The required good fraction; the rest is the error budget. */
  objective: number;
  /** The PromQL query for the bad fraction over a window, by namespace. */
  badRatio: (window: Window) => string;
  /** The PromQL query for the number of bad events, or bad minutes, over a window. */
  badCount: (window: Window) => string;
  /** The minimum number of bad events for an alert, to ignore single errors when traffic is low. */
  badCountMin: number;
};

const publicApiSelector = 'service="links-api",http_route=~"/v1/.*"';
const requestsMetric = "http_server_request_duration_seconds";

type RangeQuery = (metric: string) => string;

/**
 * Builds the queries of an SLO that counts events: the ratio of bad events to all events, and the
 * number of bad events.
 */
const createEventRatio = (
  totalMetric: string,
  buildBadQuery: (queryRange: RangeQuery) => string,
) => {
  const queryRange = (rangeFunction: string, window: string) => (metric: string) =>
    `sum by (namespace) (${rangeFunction}(${metric}[${window}]))`;
  return {
    badCountMin: 10,
    badRatio: (window: Window) =>
      `(${buildBadQuery(queryRange("rate", window))}) / ${queryRange("rate", window)(totalMetric)}`,
    badCount: (window: Window) => buildBadQuery(queryRange("increase", window)),
  };
};

/**
 * Counts the events with the given labels as bad. If there is no such event, the series is missing
 * and the query returns 0.
 */
const createLabelRatio = (
  totalMetric: string,
  labels: { totalSelector: string; badSelector: string },
) => {
  const selector = [labels.totalSelector, labels.badSelector]
    .filter((text) => text !== "")
    .join(",");
  const total = `${totalMetric}{${labels.totalSelector}}`;
  return createEventRatio(
    total,
    (queryRange) => `${queryRange(`${totalMetric}{${selector}}`)} or 0 * ${queryRange(total)}`,
  );
};

/**
 * Counts events slower than the threshold as bad. The threshold must be a bucket of the histogram;
 * otherwise the ratio has no series.
 */
const createLatencyRatio = (metric: string, labels: string, thresholdSeconds: number) => {
  const selector = [labels, getBucketSelector(thresholdSeconds)]
    .filter((text) => text !== "")
    .join(",");
  const total = `${metric}_count{${labels}}`;
  return createEventRatio(
    total,
    (queryRange) => `${queryRange(total)} - ${queryRange(`${metric}_bucket{${selector}}`)}`,
  );
};

/** Matches both label formats: Prometheus 3 stores the bound 15 as `15.0`, Prometheus 2 as `15`. */
const getBucketSelector = (seconds: number): string =>
  Number.isInteger(seconds) ? `le=~"${seconds}|${seconds}[.]0"` : `le="${seconds}"`;

const getLateRatio = (window: Window) =>
  `max by (namespace) (avg_over_time(payment_links:outbox_late:bool[${window}]))`;

/** All SLOs. */
export const slos: readonly Slo[] = [
  {
    name: "api-availability",
    alert: "PaymentLinksApiErrorBudgetBurn",
    objectiveText: "public API requests get a response other than a 5xx",
    objective: 0.999,
    ...createLabelRatio(`${requestsMetric}_count`, {
      totalSelector: publicApiSelector,
      badSelector: 'http_response_status_code=~"5.."',
    }),
  },
  {
    name: "api-latency",
    alert: "PaymentLinksApiLatencyBudgetBurn",
    objectiveText: "public API requests get a response within 300 ms",
    objective: 0.99,
    ...createLatencyRatio(requestsMetric, publicApiSelector, 0.3),
  },
  {
    name: "settlement-delay",
    alert: "PaymentLinksSettlementDelayBudgetBurn",
    objectiveText: "payment events of settlement-listener are applied to links within 15 s",
    objective: 0.99,
    ...createLatencyRatio(
      "payment_links_consumer_lag_seconds",
      'group="links-api",topic="settlements.v1"',
      15,
    ),
  },
  {
    name: "webhook-first-attempt",
    alert: "PaymentLinksFirstAttemptBudgetBurn",
    objectiveText: "the first attempt of a webhook starts within 10 s of its event",
    objective: 0.99,
    ...createLatencyRatio("payment_links_webhook_first_attempt_delay_seconds", "", 10),
  },
  {
    name: "webhook-delivery",
    alert: "PaymentLinksWebhookDeliveryBudgetBurn",
    objectiveText: "webhook attempts do not fail because of an internal error",
    objective: 0.995,
    ...createLabelRatio("payment_links_webhook_attempts_total", {
      totalSelector: "",
      badSelector: 'outcome=~"internal|interrupted"',
    }),
  },
  {
    name: "outbox-age",
    alert: "PaymentLinksOutboxBudgetBurn",
    objectiveText:
      "no event waits in an outbox for more than 5 s (fraction of time, worst service)",
    objective: 0.999,
    badCountMin: 2,
    badRatio: getLateRatio,
    badCount: (window) => `${getLateRatio(window)} * ${windowMinutes[window]}`,
  },
];

/** The recorded series that the `outbox-age` ratio uses. */
export const outboxLateRule = {
  record: "payment_links:outbox_late:bool",
  expr: "max by (namespace, service) (payment_links_outbox_oldest_unsent_age_seconds) > bool 5",
};
