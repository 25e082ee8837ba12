import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { alertsFolder, readRules } from "./chart-rules.ts";
import { requireTools } from "../helm/require-tools.ts";
import { runPromtool } from "./promtool.ts";

const promtoolSuite = requireTools("promtool");
const causesFile = join(alertsFolder, "causes.yaml");
const causeAlerts = new Set(
  readRules(causesFile).groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? [])),
);

/** A series and its value for each minute, in promtool's notation. `_` is a missing scrape. */
type Series = readonly [name: string, values: string];
const minutes = 30;
const steadySeries = (value: number) => `${value}+0x${minutes}`;

const bus = "payment_links_bus_consumer";
const chain = "payment_links_chain";
const settlement = "payment_links_settlement";

const gauges = (metricsByAlert: Record<string, readonly [string, number, number]>) => {
  return Object.fromEntries(
    Object.entries(metricsByAlert).map(([alert, [name, alertingValue, healthyValue]]) => {
      const alerting: Series[] = [[name, steadySeries(alertingValue)]];
      const healthy: Series[] = [[name, steadySeries(healthyValue)]];
      return [alert, { alerting, healthy }];
    }),
  );
};

/**
 * Creates cases for counters that do not exist before their first increment. The alert must already
 * fire when the counter appears with the value 1.
 */
const firstIncreases = (metricsByAlert: Record<string, string>) => {
  return Object.fromEntries(
    Object.entries(metricsByAlert).map(([alert, name]) => {
      const alerting: Series[] = [[name, `_x20 1+0x${minutes}`]];
      const healthy: Series[] = [[name, `_x${minutes}`]];
      return [alert, { alerting, healthy }];
    }),
  );
};

/**
 * Creates histogram buckets for 100 events per minute. `inTimeCount` of them arrive within one
 * minute.
 */
const createLagBuckets = (inTimeCount: number): Series[] => {
  const name = 'payment_links_consumer_lag_seconds_bucket{group="links-api",topic="accounts.v1"';
  return [
    [`${name},le="60"}`, `0+${inTimeCount}x${minutes}`],
    [`${name},le="300"}`, `0+100x${minutes}`],
    [`${name},le="+Inf"}`, `0+100x${minutes}`],
  ];
};

/** For each alert, the series that must make it fire, and similar series that must not. */
const alertCases: Readonly<Record<string, { alerting: Series[]; healthy: Series[] }>> = {
  PaymentLinksEmailsFailing: {
    alerting: [
      ['payment_links_emails_total{outcome="failed",pod="a"}', `0+1x${minutes}`],
      ['payment_links_emails_total{outcome="sent",pod="a"}', steadySeries(7)],
    ],
    healthy: [
      ['payment_links_emails_total{outcome="failed",pod="a"}', `0+1x${minutes}`],
      ['payment_links_emails_total{outcome="sent",pod="b"}', `0+1x${minutes}`],
    ],
  },
  PaymentLinksServiceGone: {
    alerting: [['process_start_time_seconds{service="links-api",pod="a"}', "5 5 5 5 5 stale"]],
    healthy: [
      ['process_start_time_seconds{service="links-api",pod="a"}', "5 5 5 5 5 stale"],
      ['process_start_time_seconds{service="links-api",pod="b"}', steadySeries(5)],
      ['process_start_time_seconds{service="another"}', "5 5 5 5 5 stale"],
    ],
  },
  PaymentLinksConnectionsExhausted: {
    alerting: [
      [
        'payment_links_connections_ended_total{service="links-api",reason="refused_total"}',
        `0+10x${minutes}`,
      ],
    ],
    healthy: [
      [
        'payment_links_connections_ended_total{service="links-api",reason="evicted_idle"}',
        `0+10x${minutes}`,
      ],
      [
        'payment_links_connections_ended_total{service="links-api",reason="refused_total"}',
        steadySeries(5),
      ],
    ],
  },
  ...gauges({
    PaymentLinksRateLimitDegraded: ['payment_links_rate_limit_degraded{service="links-api"}', 1, 0],
    PaymentLinksIdentityUnreachable: [
      'payment_links_identity_unreachable{service="links-api"}',
      1,
      0,
    ],
    PaymentLinksClockAway: ['payment_links_clock_ahead_seconds{service="links-api"}', -11, 9],
    PaymentLinksOutboxStalled: ["payment_links_outbox_oldest_unsent_age_seconds", 301, 299],
    PaymentLinksDeadLetters: ['payment_links_dead_letters_parked{group="links-api"}', 1, 0],
    PaymentLinksWebhooksOverdue: ["payment_links_webhook_oldest_due_age_seconds", 301, 299],
    PaymentLinksChainBehind: [`${chain}_head_lag_seconds{chain="1"}`, 301, 299],
    PaymentLinksChainFinalityBehind: [`${chain}_finalized_lag_seconds{chain="1"}`, 7201, 7199],
    PaymentLinksChainHalted: [`${chain}_halted{chain="1"}`, 1, 0],
    PaymentLinksChainRefused: [`${chain}_refused{chain="1"}`, 1, 0],
    PaymentLinksChainDutyFailing: [`${chain}_duty_failing{chain="1",duty="audit"}`, 1, 0],
    PaymentLinksAuditBehind: [`${chain}_audit_lag_blocks{chain="1"}`, 1, 0],
    PaymentLinksWaitingUnread: [`${chain}_waiting_unread{chain="bitcoin"}`, 1, 0],
    PaymentLinksRpcProviderAway: [`${chain}_rpc_circuit_open{chain="1",provider="rpc-1"}`, 1, 0],
    PaymentLinksRpcProviderIgnored: [`${chain}_provider_ignored{chain="1",provider="rpc-1"}`, 1, 0],
    PaymentLinksLinksUnheard: [
      'payment_links_consumer_heard_until_timestamp_seconds{group="settlement-listener",topic="payment-links.v1"}',
      -30_000,
      0,
    ],
    PaymentLinksPaymentsParked: [`${settlement}_oldest_parked_age_seconds`, 901, 899],
    PaymentLinksPaymentsUndecided: [`${settlement}_oldest_processing_age_seconds`, 86401, 86399],
  }),
  PaymentLinksConsumerStopped: {
    // One of two pods has stalled. The healthy pod must not hide it.
    alerting: [
      [`${bus}_last_fetch_timestamp_seconds{group="links-api",pod="a"}`, steadySeries(600)],
      [`${bus}_last_fetch_timestamp_seconds{group="links-api",pod="b"}`, `0+60x${minutes}`],
    ],
    healthy: [[`${bus}_last_fetch_timestamp_seconds{group="links-api"}`, `0+60x${minutes}`]],
  },
  PaymentLinksConsumerCrashing: {
    alerting: [[`${bus}_crashes_total{group="links-api"}`, `0+1x${minutes}`]],
    healthy: [[`${bus}_crashes_total{group="links-api"}`, `0+0x15 1+0x${minutes}`]],
  },
  PaymentLinksConsumerWaits: {
    alerting: [['payment_links_consumer_waits_total{group="links-api"}', `0+1x${minutes}`]],
    healthy: [['payment_links_consumer_waits_total{group="links-api"}', `0+0x15 1+0x${minutes}`]],
  },
  PaymentLinksConsumerLate: {
    alerting: createLagBuckets(80),
    healthy: createLagBuckets(100),
  },
  PaymentLinksVersionsSkipped: {
    alerting: [['payment_links_version_jumps_total{topic="accounts.v1"}', `_x20 1+0x${minutes}`]],
    healthy: [['payment_links_version_jumps_total{topic="accounts.v1"}', `7+0x120`]],
  },
  PaymentLinksChainUnwatched: {
    alerting: [[`${chain}_head_lag_seconds{chain="1"}`, "5 5 5 5 5 stale"]],
    healthy: [
      [`${chain}_head_lag_seconds{chain="1",pod="a"}`, "5 5 5 5 5 stale"],
      [`${chain}_head_lag_seconds{chain="1",pod="b"}`, steadySeries(5)],
    ],
  },
  PaymentLinksChainUnconfirmed: {
    alerting: [
      [`${chain}_agreeing_providers{chain="1"}`, steadySeries(1)],
      [`${chain}_providers{chain="1"}`, steadySeries(2)],
    ],
    // A chain with a single provider has no other provider to agree with.
    healthy: [
      [`${chain}_agreeing_providers{chain="1"}`, steadySeries(2)],
      [`${chain}_providers{chain="1"}`, steadySeries(2)],
      [`${chain}_agreeing_providers{chain="2"}`, steadySeries(1)],
      [`${chain}_providers{chain="2"}`, steadySeries(1)],
    ],
  },
  ...firstIncreases({
    PaymentLinksPositionReset: `payment_links_bus_positions_reset_total{group="links-api",reason="log_lost"}`,
    PaymentLinksSettledPaymentOrphaned: `${chain}_orphaned_after_settled_total{chain="1"}`,
    PaymentLinksAuditDifference: `${chain}_audit_differences_total{chain="1",kind="missing"}`,
    PaymentLinksProvidersContradict: `${chain}_contradictions_total{chain="1",kind="block"}`,
    PaymentLinksNoticesConflict: `${settlement}_conflicts_total{provider="acme"}`,
  }),
};

promtoolSuite.describe("causes", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "causes-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const expectFiring = async (
    name: string,
    series: readonly Series[],
    atMinute: number,
    shouldFire: boolean,
  ) => {
    const expectation = {
      expr: `count(ALERTS{alertname="${name}",alertstate="firing"}) > bool 0`,
      eval_time: `${atMinute}m`,
      exp_samples: shouldFire ? [{ labels: "{}", value: 1 }] : [],
    };
    const file = join(folder, `${name}-${shouldFire}.yaml`);
    const promtoolTest = {
      interval: "1m",
      input_series: series.map(([seriesName, values]) => ({ series: seriesName, values })),
      promql_expr_test: [expectation],
    };
    await writeFile(
      file,
      stringify({ rule_files: [causesFile], evaluation_interval: "1m", tests: [promtoolTest] }),
    );
    const { code, output } = await runPromtool(["test", "rules", file]);
    expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
  };

  test("has a case for each alert", () => {
    expect(Object.keys(alertCases).sort()).toEqual([...causeAlerts].sort());
  });

  test.each(Object.entries(alertCases))(
    "%s fires for its cause, and does not fire for a healthy system",
    async (name, { alerting, healthy }) => {
      await expectFiring(name, alerting, minutes - 2, true);
      // A healthy counter must exist for longer than the range of the alert's query.
      await expectFiring(
        name,
        healthy,
        name === "PaymentLinksVersionsSkipped" ? 119 : minutes - 2,
        false,
      );
    },
  );
});
