/** The windows over which ratios are recorded, in minutes. */
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

/** What is promised of the running set, and how its metrics show it. */
export type Slo = {
  /** The label `slo` of the recorded series. */
  name: string;
  /** The alert that fires when the budget burns. */
  alert: string;
  promise: string;
  /** The part that must be good; what is left is the budget. */
  objective: number;
  /** The part that was bad over a window, by namespace; no series if nothing happened. */
  badRatio: (window: Window) => string;
  /** How many events, or minutes, were bad over a window. */
  badCount: (window: Window) => string;
  /** Fewer bad ones wake nobody, however large their part of a little traffic is. */
  badCountMin: number;
};

const api = 'service="links-api",http_route=~"/v1/.*"';
const requests = "http_server_request_duration_seconds";

type Over = (metric: string) => string;

/** For counted things: the bad ones and all, each by a Prometheus function over a window. */
const ofEvents = (all: string, bad: (over: Over) => string) => {
  const over = (apply: string, window: string) => (metric: string) =>
    `sum by (namespace) (${apply}(${metric}[${window}]))`;
  return {
    badCountMin: 10,
    badRatio: (window: Window) => `(${bad(over("rate", window))}) / ${over("rate", window)(all)}`,
    badCount: (window: Window) => bad(over("increase", window)),
  };
};

/**
 * Those with certain labels are bad. If there has never been one, its series is missing: that
 * counts as 0.
 */
const labelled = (all: string, labels: { of: string; bad: string }) => {
  const selector = [labels.of, labels.bad].filter((text) => text !== "").join(",");
  const total = `${all}{${labels.of}}`;
  return ofEvents(total, (over) => `${over(`${all}{${selector}}`)} or 0 * ${over(total)}`);
};

/**
 * Those above a bound are bad; the bound must be a bucket of the histogram, otherwise there is no
 * ratio.
 */
const slowerThan = (metric: string, labels: string, boundSeconds: number) => {
  const selector = [labels, boundedBy(boundSeconds)].filter((text) => text !== "").join(",");
  const total = `${metric}_count{${labels}}`;
  return ofEvents(total, (over) => `${over(total)} - ${over(`${metric}_bucket{${selector}}`)}`);
};

/** Prometheus 3 stores a bound of 15 as `15.0`, where 2 keeps what it was told. */
const boundedBy = (seconds: number): string =>
  Number.isInteger(seconds) ? `le=~"${seconds}|${seconds}[.]0"` : `le="${seconds}"`;

const lateOver = (window: Window) =>
  `max by (namespace) (avg_over_time(payment_links:outbox_late:bool[${window}]))`;

/** The table; a bound in seconds is a bucket of its histogram. */
export const slos: readonly Slo[] = [
  {
    name: "api-availability",
    alert: "PaymentLinksApiErrorBudgetBurn",
    promise: "calls of the public API are answered without a fault of ours; 429 is no fault",
    objective: 0.999,
    ...labelled(`${requests}_count`, { of: api, bad: 'http_response_status_code=~"5.."' }),
  },
  {
    name: "api-latency",
    alert: "PaymentLinksApiLatencyBudgetBurn",
    promise: "calls of the public API are answered within 300 ms",
    objective: 0.99,
    ...slowerThan(requests, api, 0.3),
  },
  {
    name: "settlement-delay",
    alert: "PaymentLinksSettlementDelayBudgetBurn",
    promise: "what settlement-listener tells of a payment is on its link within 15 s",
    objective: 0.99,
    ...slowerThan(
      "payment_links_consumer_lag_seconds",
      'group="links-api",topic="settlements.v1"',
      15,
    ),
  },
  {
    name: "webhook-first-attempt",
    alert: "PaymentLinksFirstAttemptBudgetBurn",
    promise: "a webhook is first attempted within 10 s of its event",
    objective: 0.99,
    ...slowerThan("payment_links_webhook_first_attempt_delay_seconds", "", 10),
  },
  {
    name: "webhook-delivery",
    alert: "PaymentLinksWebhookDeliveryBudgetBurn",
    promise: "a webhook attempt ends by an answer or by a fault of its receiver, not of ours",
    objective: 0.995,
    ...labelled("payment_links_webhook_attempts_total", {
      of: "",
      bad: 'outcome=~"internal|interrupted"',
    }),
  },
  {
    name: "outbox-age",
    alert: "PaymentLinksOutboxBudgetBurn",
    promise: "no event waits in an outbox for more than 5 s, by time, for the worst service",
    objective: 0.999,
    badCountMin: 2,
    badRatio: lateOver,
    badCount: (window) => `${lateOver(window)} * ${windowMinutes[window]}`,
  },
];

/** The series from which the ratios above are made. */
export const outboxLate = {
  record: "payment_links:outbox_late:bool",
  expr: "max by (namespace, service) (payment_links_outbox_oldest_unsent_age_seconds) > bool 5",
};
