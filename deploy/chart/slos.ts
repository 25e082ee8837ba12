/** The windows over which is recorded, in minutes. */
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

/** What is promised of the running set, and how it is told from its metrics. */
export type Slo = {
  /** The label `slo` of what is recorded. */
  name: string;
  /** The alert that says that the budget burns. */
  alert: string;
  promise: string;
  /** The part that must be good; what is left is the budget. */
  objective: number;
  /** The part that was bad over a window, by namespace; nothing where nothing happened. */
  badRatio: (window: Window) => string;
  /** How many events, or minutes, were bad over a window. */
  badCount: (window: Window) => string;
  /** Fewer bad ones wake nobody, however large a part of little traffic they are. */
  badCountMin: number;
};

const api = 'service="links-api",http_route=~"/v1/.*"';
const requests = "http_server_request_duration_seconds";

type Over = (metric: string) => string;

/** Of counted things: which are bad of all, each as Prometheus applies a function to it over a window. */
const ofEvents = (all: string, bad: (over: Over) => string) => {
  const over = (apply: string, window: string) => (metric: string) =>
    `sum by (namespace) (${apply}(${metric}[${window}]))`;
  return {
    badCountMin: 10,
    badRatio: (window: Window) => `(${bad(over("rate", window))}) / ${over("rate", window)(all)}`,
    badCount: (window: Window) => bad(over("increase", window)),
  };
};

/** Those of certain labels are bad. Where there has never been one there is no series of it: that is 0. */
const labelled = (all: string, labels: { of: string; bad: string }) => {
  const selector = [labels.of, labels.bad].filter((text) => text !== "").join(",");
  const total = `${all}{${labels.of}}`;
  return ofEvents(total, (over) => `${over(`${all}{${selector}}`)} or 0 * ${over(total)}`);
};

/** Those above a bound are bad; the bound is a bucket of the histogram, else there is no ratio. */
const slowerThan = (metric: string, labels: string, boundSeconds: number) => {
  const selector = [labels, `le="${boundSeconds}"`].filter((text) => text !== "").join(",");
  const total = `${metric}_count{${labels}}`;
  return ofEvents(total, (over) => `${over(total)} - ${over(`${metric}_bucket{${selector}}`)}`);
};

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

/** What the records above are made of. */
export const outboxLate = {
  record: "payment_links:outbox_late:bool",
  expr: "max by (namespace, service) (payment_links_outbox_oldest_unsent_age_seconds) > bool 5",
};
