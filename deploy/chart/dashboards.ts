import { burns, countOf, ratioOf } from "./slo-rules.ts";

/** One panel: what it shows, in which unit, by which queries; `legend` is Grafana's format. */
type Panel = {
  title: string;
  about: string;
  unit: "s" | "reqps" | "percentunit" | "short" | "bytes" | "dateTimeAsIso";
  queries: readonly { expr: string; legend: string }[];
};
type Dashboard = { name: string; title: string; panels: readonly Panel[] };

/** Chosen at the top of each dashboard. */
const namespaceIs = 'namespace=~"$namespace"';
const both = 'namespace=~"$namespace",service=~"$service"';
const rate = "$__rate_interval";

const quantile = (part: number, metric: string, labels: string, by: string) =>
  `histogram_quantile(${part}, sum by (${by}, le) (rate(${metric}_bucket{${labels}}[${rate}])))`;

const requests = "http_server_request_duration_seconds";

const slo: Dashboard = {
  name: "slo",
  title: "Payment Links / Objectives",
  panels: burns.flatMap(({ severity, factor, long, short }): Panel[] => [
    {
      title: `Bad part, ${long} and ${short}`,
      about:
        "The part of each objective's events that was bad. " +
        `A ${severity} where both windows are above ${factor} × (1 − objective).`,
      unit: "percentunit",
      queries: [long, short].map((window) => ({
        expr: `${ratioOf(window)}{${namespaceIs}}`,
        legend: `{{slo}} ${window}`,
      })),
    },
    {
      title: `Bad events, ${long}`,
      about: "Fewer than ten alarm nobody; of outbox-age they are minutes, and two are enough.",
      unit: "short",
      queries: [{ expr: `${countOf(long)}{${namespaceIs}}`, legend: "{{slo}}" }],
    },
  ]),
};

const red: Dashboard = {
  name: "red",
  title: "Payment Links / Requests by route",
  panels: [
    {
      title: "Requests",
      about: "By route and method.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (http_request_method, http_route) (rate(${requests}_count{${both}}[${rate}]))`,
          legend: "{{http_request_method}} {{http_route}}",
        },
      ],
    },
    {
      title: "Errors",
      about: "The part answered with 5xx, by route.",
      unit: "percentunit",
      queries: [
        {
          expr:
            `sum by (http_route) (rate(${requests}_count{${both},http_response_status_code=~"5.."}[${rate}]))` +
            ` / sum by (http_route) (rate(${requests}_count{${both}}[${rate}]))`,
          legend: "{{http_route}}",
        },
      ],
    },
    ...[0.5, 0.95, 0.99].map((part) => ({
      title: `Duration, p${part * 100}`,
      about: "From a request's arrival to the end of its answer.",
      unit: "s" as const,
      queries: [{ expr: quantile(part, requests, both, "http_route"), legend: "{{http_route}}" }],
    })),
    {
      title: "Status",
      about: "429 is a limit at work; 499 is a client that left.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (http_response_status_code) (rate(${requests}_count{${both}}[${rate}]))`,
          legend: "{{http_response_status_code}}",
        },
      ],
    },
    {
      title: "Rate limits",
      about: "Tokens taken and requests kept out, by policy.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (policy, decision) (rate(payment_links_rate_limit_decisions_total{${both}}[${rate}]))`,
          legend: "{{policy}} {{decision}}",
        },
        {
          expr: `max by (service) (payment_links_rate_limit_degraded{${both}})`,
          legend: "{{service}} without Redis",
        },
      ],
    },
    {
      title: "Connections",
      about: "Open connections by state; those that the service ended or refused in an hour.",
      unit: "short",
      queries: [
        {
          expr: `sum by (listener, state) (payment_links_connections{${both}})`,
          legend: "{{listener}}, {{state}}",
        },
        {
          expr: `sum by (reason) (increase(payment_links_connections_ended_total{${both}}[1h]))`,
          legend: "ended, {{reason}}",
        },
      ],
    },
    {
      title: "Exports",
      about: "Exports under way by state, and how they ended in an hour.",
      unit: "short",
      queries: [
        {
          expr: `sum by (state) (payment_links_exports_under_way{${both}})`,
          legend: "{{state}}",
        },
        {
          expr: `sum by (outcome) (increase(payment_links_exports_total{${both}}[1h]))`,
          legend: "ended, {{outcome}}",
        },
      ],
    },
    {
      title: "Event streams",
      about:
        "Pages that follow their link; those refused or ended by us, and failed looks, an hour.",
      unit: "short",
      queries: [
        { expr: `sum by (pod) (payment_links_event_streams{${both}})`, legend: "{{pod}}" },
        {
          expr: `sum by (bound) (increase(payment_links_event_streams_refused_total{${both}}[1h]))`,
          legend: "refused, bound of the {{bound}}",
        },
        {
          expr: `sum by (why) (increase(payment_links_event_streams_ended_total{${both}}[1h]))`,
          legend: "ended, {{why}}",
        },
        {
          expr: `sum(increase(payment_links_failed_looks_total{${both}}[1h]))`,
          legend: "failed looks",
        },
      ],
    },
    {
      title: "Questions to auth-keys",
      about: "By outcome, and how long one of a hundred takes.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (kind, outcome) (rate(payment_links_identity_questions_total{${both}}[${rate}]))`,
          legend: "{{kind}} {{outcome}}",
        },
        {
          expr: quantile(0.99, "payment_links_identity_question_duration_seconds", both, "kind"),
          legend: "p99 of {{kind}}, seconds",
        },
      ],
    },
    {
      title: "Without answers of auth-keys",
      about: "1: creating links fails at once, listing and the console after a minute.",
      unit: "short",
      queries: [
        {
          expr: `max by (service) (payment_links_identity_unreachable{${both}})`,
          legend: "{{service}}",
        },
      ],
    },
  ],
};

const events: Dashboard = {
  name: "outbox-and-lag",
  title: "Payment Links / Outbox and lag",
  panels: [
    {
      title: "Oldest unsent event",
      about: "How long it has waited in the outbox; promised below 5 s.",
      unit: "s",
      queries: [
        {
          expr: `max by (service) (payment_links_outbox_oldest_unsent_age_seconds{${both}})`,
          legend: "{{service}}",
        },
      ],
    },
    {
      title: "Unsent events",
      about: "Counted up to 10 000.",
      unit: "short",
      queries: [
        {
          expr: `max by (service) (payment_links_outbox_unsent_rows{${both}})`,
          legend: "{{service}}",
        },
      ],
    },
    {
      title: "Events sent",
      about: "And turns of the relay that failed.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (service) (rate(payment_links_outbox_sent_total{${both}}[${rate}]))`,
          legend: "{{service}}",
        },
        {
          expr: `sum by (service) (rate(payment_links_outbox_failures_total{${both}}[${rate}]))`,
          legend: "{{service}} failed",
        },
      ],
    },
    {
      title: "Lag, p99",
      about: "From an event's happening to its application.",
      unit: "s",
      queries: [
        {
          expr: quantile(0.99, "payment_links_consumer_lag_seconds", both, "group, topic"),
          legend: "{{group}} {{topic}}",
        },
      ],
    },
    {
      title: "Events consumed",
      about: "Applied, repeated, ignored or parked.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (group, outcome) (rate(payment_links_consumer_events_total{${both}}[${rate}]))`,
          legend: "{{group}} {{outcome}}",
        },
      ],
    },
    {
      title: "Since the last fetch",
      about: "A consumer at work fetches once a second, also where there is nothing.",
      unit: "s",
      queries: [
        {
          expr: `time() - payment_links_bus_consumer_last_fetch_timestamp_seconds{${both}}`,
          legend: "{{group}} {{pod}}",
        },
      ],
    },
    {
      title: "Since the last record",
      about: "Grows where nothing happens, too.",
      unit: "s",
      queries: [
        {
          expr: `time() - max by (group, topic) (payment_links_consumer_last_progress_timestamp_seconds{${both}})`,
          legend: "{{group}} {{topic}}",
        },
      ],
    },
    {
      title: "All is heard",
      about: "Since the last marks of the topic's sender; everything before has been heard.",
      unit: "s",
      queries: [
        {
          expr: `time() - max by (group, topic) (payment_links_consumer_heard_until_timestamp_seconds{topic="payment-links.v1",${both}})`,
          legend: "{{group}} {{topic}}",
        },
      ],
    },
    {
      title: "Troubles",
      about: "Records parked now; waits, crashes, lost positions, jumps of versions an hour.",
      unit: "short",
      queries: [
        {
          expr: `max by (group) (payment_links_dead_letters_parked{${both}})`,
          legend: "{{group}} parked",
        },
        {
          expr: `sum by (group) (increase(payment_links_consumer_waits_total{${both}}[1h]))`,
          legend: "{{group}} waits",
        },
        {
          expr: `sum by (group) (increase(payment_links_bus_consumer_crashes_total{${both}}[1h]))`,
          legend: "{{group}} crashes",
        },
        {
          expr: `sum by (group) (increase(payment_links_bus_positions_reset_total{${both}}[1h]))`,
          legend: "{{group}} positions",
        },
        {
          expr: `sum by (service) (increase(payment_links_version_jumps_total{${both}}[1h]))`,
          legend: "{{service}} jumps",
        },
        {
          expr: `sum by (service) (increase(payment_links_link_version_jumps_total{${both}}[1h]))`,
          legend: "{{service}} jumps of links",
        },
      ],
    },
  ],
};

const settlement: Dashboard = {
  name: "settlement",
  title: "Payment Links / Settlement",
  panels: [
    {
      title: "Behind the head",
      about: "Age of the last scanned block by its own time.",
      unit: "s",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_head_lag_seconds{${namespaceIs}})`,
          legend: "{{chain}}",
        },
      ],
    },
    {
      title: "Behind finality",
      about: "Age of the last final block by its own time.",
      unit: "s",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_finalized_lag_seconds{${namespaceIs}})`,
          legend: "{{chain}}",
        },
      ],
    },
    {
      title: "Behind with the second look",
      about: "Final blocks that were read once and wait to be read by another provider.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_audit_lag_blocks{${namespaceIs}})`,
          legend: "{{chain}} blocks",
        },
      ],
    },
    {
      title: "Chains that stand",
      about: "1: waits for an operator, or is not what the catalogue says.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_halted{${namespaceIs}})`,
          legend: "{{chain}} halted",
        },
        {
          expr: `max by (chain) (payment_links_chain_refused{${namespaceIs}})`,
          legend: "{{chain}} refused",
        },
      ],
    },
    {
      title: "Waiting to be read",
      about: "Transactions in the mempools of chains that are read before they are mined.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_waiting_unread{${namespaceIs}})`,
          legend: "{{chain}}",
        },
      ],
    },
    {
      title: "Transfers",
      about: "Through fee proxies, by what became of them.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (chain, outcome) (rate(payment_links_chain_transfers_total{${namespaceIs}}[${rate}]))`,
          legend: "{{chain}} {{outcome}}",
        },
      ],
    },
    {
      title: "Notices of providers",
      about: "By what became of them.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (provider, outcome) (rate(payment_links_settlement_notices_total{${namespaceIs}}[${rate}]))`,
          legend: "{{provider}} {{outcome}}",
        },
      ],
    },
    {
      title: "Waiting payments",
      about: "For their link to be heard of, or for their final notice.",
      unit: "short",
      queries: [
        {
          expr: `max(payment_links_settlement_parked_payments{${namespaceIs}})`,
          legend: "parked",
        },
        {
          expr: `max(payment_links_settlement_processing_payments{${namespaceIs}})`,
          legend: "processing",
        },
      ],
    },
    {
      title: "Oldest waiting payment",
      about: "How long it has waited.",
      unit: "s",
      queries: [
        {
          expr: `max(payment_links_settlement_oldest_parked_age_seconds{${namespaceIs}})`,
          legend: "parked",
        },
        {
          expr: `max(payment_links_settlement_oldest_processing_age_seconds{${namespaceIs}})`,
          legend: "processing",
        },
      ],
    },
    {
      title: "RPC requests",
      about: "By provider and outcome.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (chain, provider, outcome) (rate(payment_links_chain_rpc_requests_total{${namespaceIs}}[${rate}]))`,
          legend: "{{chain}} {{provider}} {{outcome}}",
        },
      ],
    },
    {
      title: "RPC providers left alone",
      about:
        "1: it failed so often that it is not asked for a while, or differs from the catalogue.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain, provider) (payment_links_chain_rpc_circuit_open{${namespaceIs}})`,
          legend: "{{chain}} {{provider}}",
        },
        {
          expr: `max by (chain, provider) (payment_links_chain_provider_ignored{${namespaceIs}})`,
          legend: "{{chain}} {{provider}} ignored",
        },
      ],
    },
    {
      title: "What does not agree, an hour",
      about: "Answers of providers, second passes, notices, and payments that a reorg took away.",
      unit: "short",
      queries: [
        {
          expr: `sum by (chain, kind) (increase(payment_links_chain_rpc_disagreements_total{${namespaceIs}}[1h]))`,
          legend: "{{chain}} {{kind}}",
        },
        {
          expr: `sum by (chain, kind) (increase(payment_links_chain_audit_differences_total{${namespaceIs}}[1h]))`,
          legend: "{{chain}} audit {{kind}}",
        },
        {
          expr: `sum by (chain, kind) (increase(payment_links_chain_contradictions_total{${namespaceIs}}[1h]))`,
          legend: "{{chain}} contradicted {{kind}}",
        },
        {
          expr: `max by (chain) (payment_links_chain_providers{${namespaceIs}}) - max by (chain) (payment_links_chain_agreeing_providers{${namespaceIs}})`,
          legend: "{{chain}} providers that do not agree",
        },
        {
          expr: `max by (chain, duty) (payment_links_chain_duty_failing{${namespaceIs}})`,
          legend: "{{chain}} {{duty}} fails",
        },
        {
          expr: `sum by (provider) (increase(payment_links_settlement_conflicts_total{${namespaceIs}}[1h]))`,
          legend: "{{provider}} conflicts",
        },
        {
          expr: `sum by (chain) (increase(payment_links_chain_orphaned_after_settled_total{${namespaceIs}}[1h]))`,
          legend: "{{chain}} orphaned after settled",
        },
        {
          expr: `sum(increase(payment_links_payments_orphaned_total{${namespaceIs}}[1h]))`,
          legend: "credited and orphaned",
        },
      ],
    },
    {
      title: "Reorgs, p99 of depth, and scans",
      about: "Blocks taken away; seconds from asking for blocks to their commit.",
      unit: "short",
      queries: [
        {
          expr: quantile(0.99, "payment_links_chain_reorg_depth_blocks", namespaceIs, "chain"),
          legend: "{{chain}} blocks",
        },
        {
          expr: quantile(0.99, "payment_links_chain_scan_duration_seconds", namespaceIs, "chain"),
          legend: "{{chain}} seconds",
        },
      ],
    },
    {
      title: "Links and payments",
      about: "Links created and changed; settled payments by outcome.",
      unit: "reqps",
      queries: [
        {
          expr: `sum(rate(payment_links_created_total{${namespaceIs}}[${rate}]))`,
          legend: "created",
        },
        {
          expr: `sum by (from, to) (rate(payment_links_transitions_total{${namespaceIs}}[${rate}]))`,
          legend: "{{from}} to {{to}}",
        },
        {
          expr: `sum by (outcome) (rate(payment_links_payments_total{${namespaceIs}}[${rate}]))`,
          legend: "payment {{outcome}}",
        },
      ],
    },
  ],
};

const webhooks: Dashboard = {
  name: "webhooks",
  title: "Payment Links / Webhooks",
  panels: [
    {
      title: "Attempts",
      about: "By how they ended.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (outcome) (rate(payment_links_webhook_attempts_total{${namespaceIs}}[${rate}]))`,
          legend: "{{outcome}}",
        },
      ],
    },
    {
      title: "Event to first attempt",
      about: "Promised below 10 s.",
      unit: "s",
      queries: [0.5, 0.99].map((part) => ({
        expr: `histogram_quantile(${part}, sum by (le) (rate(payment_links_webhook_first_attempt_delay_seconds_bucket{${namespaceIs}}[${rate}])))`,
        legend: `p${part * 100}`,
      })),
    },
    {
      title: "Oldest due",
      about: "How long the delivery that has waited longest has been due.",
      unit: "s",
      queries: [
        {
          expr: `max(payment_links_webhook_oldest_due_age_seconds{${namespaceIs}})`,
          legend: "oldest",
        },
      ],
    },
    {
      title: "Pending and under way",
      about: "Deliveries waiting or under way, counted up to 10 000, and attempts being made.",
      unit: "short",
      queries: [
        {
          expr: `max(payment_links_webhook_pending_deliveries{${namespaceIs}})`,
          legend: "pending",
        },
        {
          expr: `sum(payment_links_webhook_attempts_under_way{${namespaceIs}})`,
          legend: "under way",
        },
      ],
    },
  ],
};

const runtime: Dashboard = {
  name: "runtime",
  title: "Payment Links / Runtime",
  panels: [
    {
      title: "CPU",
      about: "Cores in use, by pod.",
      unit: "short",
      queries: [
        {
          expr: `rate(process_cpu_seconds_total{${both}}[${rate}])`,
          legend: "{{service}} {{pod}}",
        },
      ],
    },
    {
      title: "Memory",
      about: "Resident, and the heap's part.",
      unit: "bytes",
      queries: [
        { expr: `process_resident_memory_bytes{${both}}`, legend: "{{service}} {{pod}}" },
        { expr: `nodejs_heap_size_used_bytes{${both}}`, legend: "{{service}} {{pod}} heap" },
      ],
    },
    {
      title: "Event loop",
      about: "p99 of its delay, beyond the 500 ms between two samples.",
      unit: "s",
      queries: [
        {
          expr: `clamp_min(nodejs_eventloop_lag_p99_seconds{${both}} - 0.5, 0)`,
          legend: "{{service}} {{pod}}",
        },
      ],
    },
    {
      title: "Garbage collection",
      about: "Part of the time.",
      unit: "percentunit",
      queries: [
        {
          expr: `sum by (service, pod) (rate(nodejs_gc_duration_seconds_sum{${both}}[${rate}]))`,
          legend: "{{service}} {{pod}}",
        },
      ],
    },
    {
      title: "Clock",
      about: "By how much it is ahead of Postgres', looked at once a minute.",
      unit: "s",
      queries: [
        {
          expr: `payment_links_clock_ahead_seconds{${both}}`,
          legend: "{{service}} {{pod}}",
        },
      ],
    },
    {
      title: "Open files",
      about: "Sockets included.",
      unit: "short",
      queries: [{ expr: `process_open_fds{${both}}`, legend: "{{service}} {{pod}}" }],
    },
    {
      title: "Age",
      about: "Seconds since each process began.",
      unit: "s",
      queries: [
        { expr: `time() - process_start_time_seconds{${both}}`, legend: "{{service}} {{pod}}" },
      ],
    },
  ],
};

/** What the chart brings for Grafana. */
export const dashboards: readonly Dashboard[] = [slo, red, events, settlement, webhooks, runtime];

/**
 * A dashboard as it is committed: Grafana's JSON, in which data source and namespace are chosen.
 */
export const dashboardText = ({ name, title, panels }: Dashboard): string => {
  const dashboard = {
    uid: `payment-links-${name}`,
    title,
    tags: ["payment-links"],
    schemaVersion: 39,
    editable: false,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    templating: { list: variables() },
    panels: panels.map(toGrafana),
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
};

const datasource = { type: "prometheus", uid: "${datasource}" };

const variables = () => [
  { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
  ...["namespace", "service"].map((label) => ({
    name: label,
    label: label === "service" ? "Service" : "Namespace",
    type: "query",
    datasource,
    query: `label_values(payment_links_outbox_unsent_rows, ${label})`,
    includeAll: true,
    // A Prometheus outside of Kubernetes sets no namespace label: then the filter matches
    // everything.
    allValue: ".*",
    multi: true,
    current: { text: "All", value: "$__all" },
    refresh: 2,
  })),
];

const columns = 2;
const widthOfAll = 24;
const height = 8;

const toGrafana = ({ title, about, unit, queries }: Panel, index: number) => {
  const w = widthOfAll / columns;
  return {
    id: index + 1,
    type: "timeseries",
    title,
    description: about,
    datasource,
    gridPos: { x: (index % columns) * w, y: Math.floor(index / columns) * height, w, h: height },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { showLegend: true, placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: queries.map(({ expr, legend }, at) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + at),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
};
