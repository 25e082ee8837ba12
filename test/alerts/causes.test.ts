import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { alertsFolder, readRules } from "./chart-rules.ts";
import { needing } from "../helm/tools.ts";
import { runPromtool } from "./promtool.ts";

const withPromtool = needing("promtool");
const causesFile = join(alertsFolder, "causes.yaml");
const causes = new Set(
  readRules(causesFile).groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? [])),
);

/** A series and its values minute by minute, as promtool writes them; `_` is a missing scrape. */
type Series = readonly [name: string, values: string];
const minutes = 30;
const steady = (value: number) => `${value}+0x${minutes}`;

const bus = "payment_links_bus_consumer";
const chain = "payment_links_chain";
const settlement = "payment_links_settlement";

const gauges = (ofAlert: Record<string, readonly [string, number, number]>) => {
  return Object.fromEntries(
    Object.entries(ofAlert).map(([alert, [name, bad, good]]) => {
      const trouble: Series[] = [[name, steady(bad)]];
      const rest: Series[] = [[name, steady(good)]];
      return [alert, { trouble, rest }];
    }),
  );
};

/** Counters that do not exist before they are 1: that first value must fire already. */
const firstRises = (ofAlert: Record<string, string>) => {
  return Object.fromEntries(
    Object.entries(ofAlert).map(([alert, name]) => {
      const trouble: Series[] = [[name, `_x20 1+0x${minutes}`]];
      const rest: Series[] = [[name, `_x${minutes}`]];
      return [alert, { trouble, rest }];
    }),
  );
};

/** A hundred events per minute; of these, the given number within a minute. */
const lags = (inTime: number): Series[] => {
  const name = 'payment_links_consumer_lag_seconds_bucket{group="links-api",topic="accounts.v1"';
  return [
    [`${name},le="60"}`, `0+${inTime}x${minutes}`],
    [`${name},le="300"}`, `0+100x${minutes}`],
    [`${name},le="+Inf"}`, `0+100x${minutes}`],
  ];
};

/** The state that each alert is for, and the same set at rest: at rest nothing may fire. */
const troubles: Readonly<Record<string, { trouble: Series[]; rest: Series[] }>> = {
  PaymentLinksServiceGone: {
    trouble: [['process_start_time_seconds{service="links-api",pod="a"}', "5 5 5 5 5 stale"]],
    rest: [
      ['process_start_time_seconds{service="links-api",pod="a"}', "5 5 5 5 5 stale"],
      ['process_start_time_seconds{service="links-api",pod="b"}', steady(5)],
      ['process_start_time_seconds{service="another"}', "5 5 5 5 5 stale"],
    ],
  },
  PaymentLinksConnectionsExhausted: {
    trouble: [
      [
        'payment_links_connections_ended_total{service="links-api",reason="refused_total"}',
        `0+10x${minutes}`,
      ],
    ],
    rest: [
      [
        'payment_links_connections_ended_total{service="links-api",reason="evicted_idle"}',
        `0+10x${minutes}`,
      ],
      [
        'payment_links_connections_ended_total{service="links-api",reason="refused_total"}',
        steady(5),
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
    // One of two pods has stalled; the other's health must not hide that.
    trouble: [
      [`${bus}_last_fetch_timestamp_seconds{group="links-api",pod="a"}`, steady(600)],
      [`${bus}_last_fetch_timestamp_seconds{group="links-api",pod="b"}`, `0+60x${minutes}`],
    ],
    rest: [[`${bus}_last_fetch_timestamp_seconds{group="links-api"}`, `0+60x${minutes}`]],
  },
  PaymentLinksConsumerCrashing: {
    trouble: [[`${bus}_crashes_total{group="links-api"}`, `0+1x${minutes}`]],
    rest: [[`${bus}_crashes_total{group="links-api"}`, `0+0x15 1+0x${minutes}`]],
  },
  PaymentLinksConsumerWaits: {
    trouble: [['payment_links_consumer_waits_total{group="links-api"}', `0+1x${minutes}`]],
    rest: [['payment_links_consumer_waits_total{group="links-api"}', `0+0x15 1+0x${minutes}`]],
  },
  PaymentLinksConsumerLate: {
    trouble: lags(80),
    rest: lags(100),
  },
  PaymentLinksVersionsSkipped: {
    trouble: [['payment_links_version_jumps_total{topic="accounts.v1"}', `_x20 1+0x${minutes}`]],
    rest: [['payment_links_version_jumps_total{topic="accounts.v1"}', `7+0x120`]],
  },
  PaymentLinksChainUnwatched: {
    trouble: [[`${chain}_head_lag_seconds{chain="1"}`, "5 5 5 5 5 stale"]],
    rest: [
      [`${chain}_head_lag_seconds{chain="1",pod="a"}`, "5 5 5 5 5 stale"],
      [`${chain}_head_lag_seconds{chain="1",pod="b"}`, steady(5)],
    ],
  },
  PaymentLinksChainUnconfirmed: {
    trouble: [
      [`${chain}_agreeing_providers{chain="1"}`, steady(1)],
      [`${chain}_providers{chain="1"}`, steady(2)],
    ],
    // A lone provider has nobody to agree with.
    rest: [
      [`${chain}_agreeing_providers{chain="1"}`, steady(2)],
      [`${chain}_providers{chain="1"}`, steady(2)],
      [`${chain}_agreeing_providers{chain="2"}`, steady(1)],
      [`${chain}_providers{chain="2"}`, steady(1)],
    ],
  },
  ...firstRises({
    PaymentLinksPositionReset: `payment_links_bus_positions_reset_total{group="links-api",reason="log_lost"}`,
    PaymentLinksSettledPaymentOrphaned: `${chain}_orphaned_after_settled_total{chain="1"}`,
    PaymentLinksAuditDifference: `${chain}_audit_differences_total{chain="1",kind="missing"}`,
    PaymentLinksProvidersContradict: `${chain}_contradictions_total{chain="1",kind="block"}`,
    PaymentLinksNoticesConflict: `${settlement}_conflicts_total{provider="acme"}`,
  }),
};

withPromtool.describe("causes", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "causes-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const firing = async (
    name: string,
    series: readonly Series[],
    atMinute: number,
    fires: boolean,
  ) => {
    const expectation = {
      expr: `count(ALERTS{alertname="${name}",alertstate="firing"}) > bool 0`,
      eval_time: `${atMinute}m`,
      exp_samples: fires ? [{ labels: "{}", value: 1 }] : [],
    };
    const file = join(folder, `${name}-${fires}.yaml`);
    const one = {
      interval: "1m",
      input_series: series.map(([series_, values]) => ({ series: series_, values })),
      promql_expr_test: [expectation],
    };
    await writeFile(
      file,
      stringify({ rule_files: [causesFile], evaluation_interval: "1m", tests: [one] }),
    );
    const { code, said } = await runPromtool(["test", "rules", file]);
    expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
  };

  test("each has its trouble here", () => {
    expect(Object.keys(troubles).sort()).toEqual([...causes].sort());
  });

  test.each(Object.entries(troubles))(
    "%s fires, and not at rest",
    async (name, { trouble, rest }) => {
      await firing(name, trouble, minutes - 2, true);
      // A counter at rest must have existed for longer than its alert looks back.
      await firing(name, rest, name === "PaymentLinksVersionsSkipped" ? 119 : minutes - 2, false);
    },
  );
});
