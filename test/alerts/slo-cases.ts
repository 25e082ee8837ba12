import type { Slo } from "@payment-links/deploy/chart/slos";

/** The events of an SLO during a period: the events per minute, and the ratio of bad events. */
type Phase = { minutes: number; eventsPerMinute: number; badRatio: number };
/** Whether an alert with these labels must be firing at the given minute of the case. */
type Expectation = { atMinute: number; severity: string; long?: string; shouldFire: boolean };
type SloCase = {
  name: string;
  phases: readonly Phase[];
  expect: readonly Expectation[];
  /**
   * A minute at which the ratio alone would make the alert fire. Only the minimum-traffic condition
   * prevents the alert.
   */
  ratioIsBadAtMinute?: number;
};

const healthyTraffic = { eventsPerMinute: 120, badRatio: 0 };
const failingTraffic = { eventsPerMinute: 120, badRatio: 1 };
const rareTraffic = { eventsPerMinute: 0.2, badRatio: 0 };

/**
 * Returns the four test cases of an SLO. A slow burn consumes the error budget at four times the
 * allowed rate.
 */
export const createSloCases = ({ name, objective }: Slo): SloCase[] => [
  {
    name: "a fast burn pages within minutes",
    phases: [
      { minutes: 60, ...healthyTraffic },
      { minutes: 20, ...failingTraffic },
    ],
    expect: [
      { atMinute: 59, severity: "page|ticket", shouldFire: false },
      { atMinute: 79, severity: "page", long: "1h", shouldFire: true },
    ],
  },
  {
    name: "a slow burn opens a ticket and no page",
    phases: [{ minutes: 820, eventsPerMinute: 1000, badRatio: 4 * (1 - objective) }],
    expect: [
      { atMinute: 815, severity: "ticket", long: "1d", shouldFire: true },
      { atMinute: 815, severity: "page", shouldFire: false },
    ],
  },
  {
    name: "the pages end after recovery, although the long windows still exceed the budget",
    phases: [
      { minutes: 60, ...healthyTraffic },
      { minutes: 20, ...failingTraffic },
      { minutes: 45, ...healthyTraffic },
    ],
    expect: [
      { atMinute: 80, severity: "page", long: "1h", shouldFire: true },
      { atMinute: 90, severity: "page", long: "1h", shouldFire: false },
      { atMinute: 122, severity: "page", shouldFire: false },
    ],
  },
  {
    name: "a few bad events with very little traffic fire no alert",
    phases: [
      { minutes: 60, ...rareTraffic },
      // The outbox SLO counts minutes instead of events. One bad minute in 20 is equivalent here.
      { minutes: 20, ...rareTraffic, badRatio: name === "outbox-age" ? 1 / 20 : 1 },
      // Continues for longer than the alert's `for` duration.
      { minutes: 4, ...rareTraffic },
    ],
    expect: [{ atMinute: 82, severity: "page|ticket", shouldFire: false }],
    ratioIsBadAtMinute: 82,
  },
];

/** Returns a counter's value for each minute, in promtool's notation. */
const counterValues = (
  phases: readonly Phase[],
  countPerMinute: (phase: Phase) => number,
): string => {
  let total = 0;
  return phases
    .flatMap((phase) =>
      Array.from({ length: phase.minutes }, () => {
        total += countPerMinute(phase);
        return total.toFixed(3);
      }),
    )
    .join(" ");
};

const countGood = ({ eventsPerMinute, badRatio }: Phase) => eventsPerMinute * (1 - badRatio);
const countBad = ({ eventsPerMinute, badRatio }: Phase) => eventsPerMinute * badRatio;
const countAll = ({ eventsPerMinute }: Phase) => eventsPerMinute;

type CountEvents = (phase: Phase) => number;

/**
 * Formats a bucket's bound as Prometheus stores it. Version 2 stores it as exposed. Version 3
 * stores it with a decimal point.
 */
const formatBound = {
  2: (bound: number) => `${bound}`,
  3: (bound: number) => (Number.isInteger(bound) ? `${bound}.0` : `${bound}`),
};
type PrometheusVersion = keyof typeof formatBound;

const createHistogram = (
  metric: string,
  labels: string,
  upperBound: string,
): [string, CountEvents][] => [
  [`${metric}_count{${labels}}`, countAll],
  [`${metric}_bucket{${labels},le="${upperBound}"}`, countGood],
  [`${metric}_bucket{${labels},le="+Inf"}`, countAll],
];

const requestLabels =
  'service="links-api",http_request_method="GET",http_route="/v1/payment-link/:id"';
const requestMetric = "http_server_request_duration_seconds";

/** Returns the series that each SLO is computed from, as the services expose them. */
const seriesFor = (
  formatStoredBound: (bound: number) => string,
): Readonly<Record<string, [string, CountEvents][]>> => ({
  "api-availability": [
    [`${requestMetric}_count{${requestLabels},http_response_status_code="200"}`, countGood],
    // A rate-limited request does not count as an error.
    [`${requestMetric}_count{${requestLabels},http_response_status_code="500"}`, countBad],
    [`${requestMetric}_count{${requestLabels},http_response_status_code="429"}`, () => 1],
  ],
  "api-latency": createHistogram(
    requestMetric,
    `${requestLabels},http_response_status_code="200"`,
    formatStoredBound(0.3),
  ),
  "settlement-delay": createHistogram(
    "payment_links_consumer_lag_seconds",
    'service="links-api",group="links-api",topic="settlements.v1"',
    formatStoredBound(15),
  ),
  "webhook-first-attempt": createHistogram(
    "payment_links_webhook_first_attempt_delay_seconds",
    'service="webhook-dispatcher"',
    formatStoredBound(10),
  ),
  "webhook-delivery": [
    ['payment_links_webhook_attempts_total{outcome="status"}', countGood],
    ['payment_links_webhook_attempts_total{outcome="interrupted"}', countBad],
  ],
});

/**
 * Returns a case as promtool tests, one for each Prometheus version, because the versions store
 * bounds differently.
 */
export const promtoolTests = (slo: Slo, sloCase: SloCase) =>
  ([2, 3] as const).map((version) => promtoolTest(slo, sloCase, version));

const promtoolTest = (
  slo: Slo,
  { phases, expect, ratioIsBadAtMinute }: SloCase,
  version: PrometheusVersion,
) => {
  const expectAlert = ({ atMinute, severity, long = ".*", shouldFire }: Expectation) => ({
    expr: `count(ALERTS{alertname="${slo.alert}",alertstate="firing",severity=~"${severity}",long=~"${long}"}) > bool 0`,
    eval_time: `${atMinute}m`,
    exp_samples: shouldFire ? [{ labels: "{}", value: 1 }] : [],
  });
  const expectBadRatio = (atMinute: number) => ({
    expr: `sum(payment_links:slo_bad:ratio_rate1h{slo="${slo.name}"}) > bool ${14.4 * (1 - slo.objective)}`,
    eval_time: `${atMinute}m`,
    exp_samples: [{ labels: "{}", value: 1 }],
  });
  return {
    interval: "1m",
    input_series:
      seriesFor(formatBound[version])[slo.name]?.map(([series, count]) => ({
        series,
        values: counterValues(phases, count),
      })) ?? outboxSeries(phases),
    promql_expr_test: [
      ...expect.map(expectAlert),
      ...(ratioIsBadAtMinute === undefined ? [] : [expectBadRatio(ratioIsBadAtMinute)]),
    ],
  };
};

/**
 * Returns series for the age of the oldest outbox event on two replicas. The age is too high in
 * `badRatio` of the minutes.
 */
const outboxSeries = (phases: readonly Phase[]) => {
  let pendingBadness = 0;
  const ages = phases.flatMap(({ minutes, badRatio }) =>
    Array.from({ length: minutes }, () => {
      pendingBadness += badRatio;
      // Allows for rounding: a sum of fractions can be slightly less than the exact value.
      const isLate = pendingBadness > 1 - 1e-9;
      if (isLate) pendingBadness -= 1;
      return isLate ? 60 : 3;
    }),
  );
  const series = 'payment_links_outbox_oldest_unsent_age_seconds{service="links-api"';
  return [
    { series: `${series},pod="a"}`, values: ages.join(" ") },
    // This replica is on standby. Until its next poll, it still reports events that the other
    // replica has already sent.
    { series: `${series},pod="b"}`, values: ages.map((_, minute) => minute % 3).join(" ") },
  ];
};
