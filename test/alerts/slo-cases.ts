import type { Slo } from "@payment-links/deploy/chart/slos";

/**
 * What happens to an objective for a while: events per minute, and the part of them that is bad.
 */
type Phase = { minutes: number; eventsPerMinute: number; badPart: number };
/** Whether an alert of these labels fires at a minute of the case. */
type Expectation = { atMinute: number; severity: string; long?: string; fires: boolean };
type SloCase = {
  name: string;
  phases: readonly Phase[];
  expect: readonly Expectation[];
  /** A minute at which the ratio alone would fire, so that only the guard prevents it. */
  ratioIsBadAtMinute?: number;
};

const calm = { eventsPerMinute: 120, badPart: 0 };
const broken = { eventsPerMinute: 120, badPart: 1 };
const rare = { eventsPerMinute: 0.2, badPart: 0 };

/** The four stories of an objective. A slow burn spends four budgets at once. */
export const casesOf = ({ name, objective }: Slo): SloCase[] => [
  {
    name: "a fast burn pages within minutes",
    phases: [
      { minutes: 60, ...calm },
      { minutes: 20, ...broken },
    ],
    expect: [
      { atMinute: 59, severity: "page|ticket", fires: false },
      { atMinute: 79, severity: "page", long: "1h", fires: true },
    ],
  },
  {
    name: "a slow burn is a ticket and no page",
    phases: [{ minutes: 820, eventsPerMinute: 1000, badPart: 4 * (1 - objective) }],
    expect: [
      { atMinute: 815, severity: "ticket", long: "1d", fires: true },
      { atMinute: 815, severity: "page", fires: false },
    ],
  },
  {
    name: "after recovery the pages end, while the long windows are still bad",
    phases: [
      { minutes: 60, ...calm },
      { minutes: 20, ...broken },
      { minutes: 45, ...calm },
    ],
    expect: [
      { atMinute: 80, severity: "page", long: "1h", fires: true },
      { atMinute: 90, severity: "page", long: "1h", fires: false },
      { atMinute: 122, severity: "page", fires: false },
    ],
  },
  {
    name: "with hardly any traffic a few bad events alarm nobody",
    phases: [
      { minutes: 60, ...rare },
      // For the outbox, whose promise is about time, one minute in twenty.
      { minutes: 20, ...rare, badPart: name === "outbox-age" ? 1 / 20 : 1 },
      // Until the alert would have waited long enough.
      { minutes: 4, ...rare },
    ],
    expect: [{ atMinute: 82, severity: "page|ticket", fires: false }],
    ratioIsBadAtMinute: 82,
  },
];

/** A counter as promtool writes it, minute by minute. */
const counterValues = (phases: readonly Phase[], perMinute: (phase: Phase) => number): string => {
  let total = 0;
  return phases
    .flatMap((phase) =>
      Array.from({ length: phase.minutes }, () => {
        total += perMinute(phase);
        return total.toFixed(3);
      }),
    )
    .join(" ");
};

const goods = ({ eventsPerMinute, badPart }: Phase) => eventsPerMinute * (1 - badPart);
const bads = ({ eventsPerMinute, badPart }: Phase) => eventsPerMinute * badPart;
const alls = ({ eventsPerMinute }: Phase) => eventsPerMinute;

type Count = (phase: Phase) => number;

/** How Prometheus stores a bucket's bound: 2 as it is told, 3 as a number with a point. */
const storedBounds = {
  2: (bound: number) => `${bound}`,
  3: (bound: number) => (Number.isInteger(bound) ? `${bound}.0` : `${bound}`),
};
type PrometheusVersion = keyof typeof storedBounds;

const histogram = (metric: string, labels: string, le: string): [string, Count][] => [
  [`${metric}_count{${labels}}`, alls],
  [`${metric}_bucket{${labels},le="${le}"}`, goods],
  [`${metric}_bucket{${labels},le="+Inf"}`, alls],
];

const call = 'service="links-api",http_request_method="GET",http_route="/v1/payment-link/:id"';
const calls = "http_server_request_duration_seconds";

/** The series that each objective is computed from, as the services expose them. */
const seriesFor = (
  stored: (bound: number) => string,
): Readonly<Record<string, [string, Count][]>> => ({
  "api-availability": [
    [`${calls}_count{${call},http_response_status_code="200"}`, goods],
    // A request that is refused by a limit is not an error.
    [`${calls}_count{${call},http_response_status_code="500"}`, bads],
    [`${calls}_count{${call},http_response_status_code="429"}`, () => 1],
  ],
  "api-latency": histogram(calls, `${call},http_response_status_code="200"`, stored(0.3)),
  "settlement-delay": histogram(
    "payment_links_consumer_lag_seconds",
    'service="links-api",group="links-api",topic="settlements.v1"',
    stored(15),
  ),
  "webhook-first-attempt": histogram(
    "payment_links_webhook_first_attempt_delay_seconds",
    'service="webhook-dispatcher"',
    stored(10),
  ),
  "webhook-delivery": [
    ['payment_links_webhook_attempts_total{outcome="status"}', goods],
    ['payment_links_webhook_attempts_total{outcome="interrupted"}', bads],
  ],
});

/** A case as promtool tests: upon what either version of Prometheus stores. */
export const promtoolTests = (slo: Slo, one: SloCase) =>
  ([2, 3] as const).map((version) => promtoolTest(slo, one, version));

const promtoolTest = (
  slo: Slo,
  { phases, expect, ratioIsBadAtMinute }: SloCase,
  version: PrometheusVersion,
) => {
  const alertsAt = ({ atMinute, severity, long = ".*", fires }: Expectation) => ({
    expr: `count(ALERTS{alertname="${slo.alert}",alertstate="firing",severity=~"${severity}",long=~"${long}"}) > bool 0`,
    eval_time: `${atMinute}m`,
    exp_samples: fires ? [{ labels: "{}", value: 1 }] : [],
  });
  const ratioAt = (atMinute: number) => ({
    expr: `sum(payment_links:slo_bad:ratio_rate1h{slo="${slo.name}"}) > bool ${14.4 * (1 - slo.objective)}`,
    eval_time: `${atMinute}m`,
    exp_samples: [{ labels: "{}", value: 1 }],
  });
  return {
    interval: "1m",
    input_series:
      seriesFor(storedBounds[version])[slo.name]?.map(([series, count]) => ({
        series,
        values: counterValues(phases, count),
      })) ?? outboxSeries(phases),
    promql_expr_test: [
      ...expect.map(alertsAt),
      ...(ratioIsBadAtMinute === undefined ? [] : [ratioAt(ratioIsBadAtMinute)]),
    ],
  };
};

/** Ages of the oldest event at two replicas: in a part of the minutes they are too high. */
const outboxSeries = (phases: readonly Phase[]) => {
  let owed = 0;
  const ages = phases.flatMap(({ minutes, badPart }) =>
    Array.from({ length: minutes }, () => {
      owed += badPart;
      // Sums of fractions can be slightly less than the whole.
      const isLate = owed > 1 - 1e-9;
      if (isLate) owed -= 1;
      return isLate ? 60 : 3;
    }),
  );
  const series = 'payment_links_outbox_oldest_unsent_age_seconds{service="links-api"';
  return [
    { series: `${series},pod="a"}`, values: ages.join(" ") },
    // It stands by, and until its next look has what was sent meanwhile.
    { series: `${series},pod="b"}`, values: ages.map((_, minute) => minute % 3).join(" ") },
  ];
};
