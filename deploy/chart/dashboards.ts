import { burnRates, getCountMetric, getRatioMetric } from "./slo-rules.ts";

/** One panel: its title, description, unit and queries; `legend` uses Grafana's format. */
type Panel = {
  title: string;
  description: string;
  unit: "s" | "reqps" | "percentunit" | "short" | "bytes" | "dateTimeAsIso";
  queries: readonly { expr: string; legend: string }[];
};
type Dashboard = { name: string; title: string; panels: readonly Panel[] };

/** The variables at the top of each dashboard. */
const namespaceSelector = 'namespace=~"$namespace"';
const serviceSelector = 'namespace=~"$namespace",service=~"$service"';
const rateInterval = "$__rate_interval";

const buildQuantile = (rank: number, metric: string, labels: string, groupLabels: string) =>
  `histogram_quantile(${rank}, sum by (${groupLabels}, le) (rate(${metric}_bucket{${labels}}[${rateInterval}])))`;

const requestsMetric = "http_server_request_duration_seconds";

const sloDashboard: Dashboard = {
  name: "slo",
  title: "Payment Links / Objectives",
  panels: burnRates.flatMap(({ severity, factor, longWindow, shortWindow }): Panel[] => [
    {
      title: `Bad part, ${longWindow} and ${shortWindow}`,
      description:
        "The part of each objective's events that was bad. " +
        `A ${severity} where both windows are above ${factor} × (1 − objective).`,
      unit: "percentunit",
      queries: [longWindow, shortWindow].map((window) => ({
        expr: `${getRatioMetric(window)}{${namespaceSelector}}`,
        legend: `{{slo}} ${window}`,
      })),
    },
    {
      title: `Bad events, ${longWindow}`,
      description:
        "Fewer than ten alarm nobody; of outbox-age they are minutes, and two are enough.",
      unit: "short",
      queries: [{ expr: `${getCountMetric(longWindow)}{${namespaceSelector}}`, legend: "{{slo}}" }],
    },
  ]),
};

const requestsDashboard: Dashboard = {
  name: "red",
  title: "Payment Links / Requests by route",
  panels: [
    {
      title: "Requests",
      description: "By route and method.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (http_request_method, http_route) (rate(${requestsMetric}_count{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{http_request_method}} {{http_route}}",
        },
      ],
    },
    {
      title: "Errors",
      description: "The part answered with 5xx, by route.",
      unit: "percentunit",
      queries: [
        {
          expr:
            `sum by (http_route) (rate(${requestsMetric}_count{${serviceSelector},http_response_status_code=~"5.."}[${rateInterval}]))` +
            ` / sum by (http_route) (rate(${requestsMetric}_count{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{http_route}}",
        },
      ],
    },
    ...[0.5, 0.95, 0.99].map((quantileRank) => ({
      title: `Duration, p${quantileRank * 100}`,
      description: "From a request's arrival to the end of its answer.",
      unit: "s" as const,
      queries: [
        {
          expr: buildQuantile(quantileRank, requestsMetric, serviceSelector, "http_route"),
          legend: "{{http_route}}",
        },
      ],
    })),
    {
      title: "Status",
      description: "429 is a limit at work; 499 is a client that left.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (http_response_status_code) (rate(${requestsMetric}_count{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{http_response_status_code}}",
        },
      ],
    },
    {
      title: "Rate limits",
      description: "Tokens taken and requests kept out, by policy.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (policy, decision) (rate(payment_links_rate_limit_decisions_total{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{policy}} {{decision}}",
        },
        {
          expr: `max by (service) (payment_links_rate_limit_degraded{${serviceSelector}})`,
          legend: "{{service}} without Redis",
        },
      ],
    },
    {
      title: "Connections",
      description: "Open connections by state; those that the service ended or refused in an hour.",
      unit: "short",
      queries: [
        {
          expr: `sum by (listener, state) (payment_links_connections{${serviceSelector}})`,
          legend: "{{listener}}, {{state}}",
        },
        {
          expr: `sum by (reason) (increase(payment_links_connections_ended_total{${serviceSelector}}[1h]))`,
          legend: "ended, {{reason}}",
        },
      ],
    },
    {
      title: "Exports",
      description: "Exports under way by state, and how they ended in an hour.",
      unit: "short",
      queries: [
        {
          expr: `sum by (state) (payment_links_exports_under_way{${serviceSelector}})`,
          legend: "{{state}}",
        },
        {
          expr: `sum by (outcome) (increase(payment_links_exports_total{${serviceSelector}}[1h]))`,
          legend: "ended, {{outcome}}",
        },
      ],
    },
    {
      title: "Event streams",
      description:
        "Pages that follow their link; those refused or ended by us, and failed looks, an hour.",
      unit: "short",
      queries: [
        {
          expr: `sum by (pod) (payment_links_event_streams{${serviceSelector}})`,
          legend: "{{pod}}",
        },
        {
          expr: `sum by (bound) (increase(payment_links_event_streams_refused_total{${serviceSelector}}[1h]))`,
          legend: "refused, bound of the {{bound}}",
        },
        {
          expr: `sum by (why) (increase(payment_links_event_streams_ended_total{${serviceSelector}}[1h]))`,
          legend: "ended, {{why}}",
        },
        {
          expr: `sum(increase(payment_links_failed_looks_total{${serviceSelector}}[1h]))`,
          legend: "failed looks",
        },
      ],
    },
    {
      title: "Questions to auth-keys",
      description: "By outcome, and how long one of a hundred takes.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (kind, outcome) (rate(payment_links_identity_questions_total{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{kind}} {{outcome}}",
        },
        {
          expr: buildQuantile(
            0.99,
            "payment_links_identity_question_duration_seconds",
            serviceSelector,
            "kind",
          ),
          legend: "p99 of {{kind}}, seconds",
        },
      ],
    },
    {
      title: "Without answers of auth-keys",
      description: "1: creating links fails at once, listing and the console after a minute.",
      unit: "short",
      queries: [
        {
          expr: `max by (service) (payment_links_identity_unreachable{${serviceSelector}})`,
          legend: "{{service}}",
        },
      ],
    },
  ],
};

const eventsDashboard: Dashboard = {
  name: "outbox-and-lag",
  title: "Payment Links / Outbox and lag",
  panels: [
    {
      title: "Oldest unsent event",
      description: "How long it has waited in the outbox; promised below 5 s.",
      unit: "s",
      queries: [
        {
          expr: `max by (service) (payment_links_outbox_oldest_unsent_age_seconds{${serviceSelector}})`,
          legend: "{{service}}",
        },
      ],
    },
    {
      title: "Unsent events",
      description: "Counted up to 10 000.",
      unit: "short",
      queries: [
        {
          expr: `max by (service) (payment_links_outbox_unsent_rows{${serviceSelector}})`,
          legend: "{{service}}",
        },
      ],
    },
    {
      title: "Events sent",
      description: "And turns of the relay that failed.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (service) (rate(payment_links_outbox_sent_total{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{service}}",
        },
        {
          expr: `sum by (service) (rate(payment_links_outbox_failures_total{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{service}} failed",
        },
      ],
    },
    {
      title: "Lag, p99",
      description: "From an event's happening to its application.",
      unit: "s",
      queries: [
        {
          expr: buildQuantile(
            0.99,
            "payment_links_consumer_lag_seconds",
            serviceSelector,
            "group, topic",
          ),
          legend: "{{group}} {{topic}}",
        },
      ],
    },
    {
      title: "Events consumed",
      description: "Applied, repeated, ignored or parked.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (group, outcome) (rate(payment_links_consumer_events_total{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{group}} {{outcome}}",
        },
      ],
    },
    {
      title: "Since the last fetch",
      description: "A consumer at work fetches once a second, also where there is nothing.",
      unit: "s",
      queries: [
        {
          expr: `time() - payment_links_bus_consumer_last_fetch_timestamp_seconds{${serviceSelector}}`,
          legend: "{{group}} {{pod}}",
        },
      ],
    },
    {
      title: "Since the last record",
      description: "Grows where nothing happens, too.",
      unit: "s",
      queries: [
        {
          expr: `time() - max by (group, topic) (payment_links_consumer_last_progress_timestamp_seconds{${serviceSelector}})`,
          legend: "{{group}} {{topic}}",
        },
      ],
    },
    {
      title: "All is heard",
      description: "Since the last marks of the topic's sender; everything before has been heard.",
      unit: "s",
      queries: [
        {
          expr: `time() - max by (group, topic) (payment_links_consumer_heard_until_timestamp_seconds{topic="payment-links.v1",${serviceSelector}})`,
          legend: "{{group}} {{topic}}",
        },
      ],
    },
    {
      title: "Troubles",
      description: "Records parked now; waits, crashes, lost positions, jumps of versions an hour.",
      unit: "short",
      queries: [
        {
          expr: `max by (group) (payment_links_dead_letters_parked{${serviceSelector}})`,
          legend: "{{group}} parked",
        },
        {
          expr: `sum by (group) (increase(payment_links_consumer_waits_total{${serviceSelector}}[1h]))`,
          legend: "{{group}} waits",
        },
        {
          expr: `sum by (group) (increase(payment_links_bus_consumer_crashes_total{${serviceSelector}}[1h]))`,
          legend: "{{group}} crashes",
        },
        {
          expr: `sum by (group) (increase(payment_links_bus_positions_reset_total{${serviceSelector}}[1h]))`,
          legend: "{{group}} positions",
        },
        {
          expr: `sum by (service) (increase(payment_links_version_jumps_total{${serviceSelector}}[1h]))`,
          legend: "{{service}} jumps",
        },
        {
          expr: `sum by (service) (increase(payment_links_link_version_jumps_total{${serviceSelector}}[1h]))`,
          legend: "{{service}} jumps of links",
        },
      ],
    },
  ],
};

const settlementDashboard: Dashboard = {
  name: "settlement",
  title: "Payment Links / Settlement",
  panels: [
    {
      title: "Behind the head",
      description: "Age of the last scanned block by its own time.",
      unit: "s",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_head_lag_seconds{${namespaceSelector}})`,
          legend: "{{chain}}",
        },
      ],
    },
    {
      title: "Behind finality",
      description: "Age of the last final block by its own time.",
      unit: "s",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_finalized_lag_seconds{${namespaceSelector}})`,
          legend: "{{chain}}",
        },
      ],
    },
    {
      title: "Behind with the second look",
      description: "Final blocks that were read once and wait to be read by another provider.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_audit_lag_blocks{${namespaceSelector}})`,
          legend: "{{chain}} blocks",
        },
      ],
    },
    {
      title: "Chains that stand",
      description: "1: waits for an operator, or is not what the catalogue says.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_halted{${namespaceSelector}})`,
          legend: "{{chain}} halted",
        },
        {
          expr: `max by (chain) (payment_links_chain_refused{${namespaceSelector}})`,
          legend: "{{chain}} refused",
        },
      ],
    },
    {
      title: "Waiting to be read",
      description: "Transactions in the mempools of chains that are read before they are mined.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_waiting_unread{${namespaceSelector}})`,
          legend: "{{chain}}",
        },
      ],
    },
    {
      title: "Transfers",
      description: "Through fee proxies, by what became of them.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (chain, outcome) (rate(payment_links_chain_transfers_total{${namespaceSelector}}[${rateInterval}]))`,
          legend: "{{chain}} {{outcome}}",
        },
      ],
    },
    {
      title: "Notices of providers",
      description: "By what became of them.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (provider, outcome) (rate(payment_links_settlement_notices_total{${namespaceSelector}}[${rateInterval}]))`,
          legend: "{{provider}} {{outcome}}",
        },
      ],
    },
    {
      title: "Waiting payments",
      description: "For their link to be heard of, or for their final notice.",
      unit: "short",
      queries: [
        {
          expr: `max(payment_links_settlement_parked_payments{${namespaceSelector}})`,
          legend: "parked",
        },
        {
          expr: `max(payment_links_settlement_processing_payments{${namespaceSelector}})`,
          legend: "processing",
        },
      ],
    },
    {
      title: "Oldest waiting payment",
      description: "How long it has waited.",
      unit: "s",
      queries: [
        {
          expr: `max(payment_links_settlement_oldest_parked_age_seconds{${namespaceSelector}})`,
          legend: "parked",
        },
        {
          expr: `max(payment_links_settlement_oldest_processing_age_seconds{${namespaceSelector}})`,
          legend: "processing",
        },
      ],
    },
    {
      title: "RPC requests",
      description: "By provider and outcome.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (chain, provider, outcome) (rate(payment_links_chain_rpc_requests_total{${namespaceSelector}}[${rateInterval}]))`,
          legend: "{{chain}} {{provider}} {{outcome}}",
        },
      ],
    },
    {
      title: "RPC providers left alone",
      description:
        "1: it failed so often that it is not asked for a while, or differs from the catalogue.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain, provider) (payment_links_chain_rpc_circuit_open{${namespaceSelector}})`,
          legend: "{{chain}} {{provider}}",
        },
        {
          expr: `max by (chain, provider) (payment_links_chain_provider_ignored{${namespaceSelector}})`,
          legend: "{{chain}} {{provider}} ignored",
        },
      ],
    },
    {
      title: "What does not agree, an hour",
      description:
        "Answers of providers, second passes, notices, and payments that a reorg took away.",
      unit: "short",
      queries: [
        {
          expr: `sum by (chain, kind) (increase(payment_links_chain_rpc_disagreements_total{${namespaceSelector}}[1h]))`,
          legend: "{{chain}} {{kind}}",
        },
        {
          expr: `sum by (chain, kind) (increase(payment_links_chain_audit_differences_total{${namespaceSelector}}[1h]))`,
          legend: "{{chain}} audit {{kind}}",
        },
        {
          expr: `sum by (chain, kind) (increase(payment_links_chain_contradictions_total{${namespaceSelector}}[1h]))`,
          legend: "{{chain}} contradicted {{kind}}",
        },
        {
          expr: `max by (chain) (payment_links_chain_providers{${namespaceSelector}}) - max by (chain) (payment_links_chain_agreeing_providers{${namespaceSelector}})`,
          legend: "{{chain}} providers that do not agree",
        },
        {
          expr: `max by (chain, duty) (payment_links_chain_duty_failing{${namespaceSelector}})`,
          legend: "{{chain}} {{duty}} fails",
        },
        {
          expr: `sum by (provider) (increase(payment_links_settlement_conflicts_total{${namespaceSelector}}[1h]))`,
          legend: "{{provider}} conflicts",
        },
        {
          expr: `sum by (chain) (increase(payment_links_chain_orphaned_after_settled_total{${namespaceSelector}}[1h]))`,
          legend: "{{chain}} orphaned after settled",
        },
        {
          expr: `sum(increase(payment_links_payments_orphaned_total{${namespaceSelector}}[1h]))`,
          legend: "credited and orphaned",
        },
      ],
    },
    {
      title: "Reorgs, p99 of depth, and scans",
      description: "Blocks taken away; seconds from asking for blocks to their commit.",
      unit: "short",
      queries: [
        {
          expr: buildQuantile(
            0.99,
            "payment_links_chain_reorg_depth_blocks",
            namespaceSelector,
            "chain",
          ),
          legend: "{{chain}} blocks",
        },
        {
          expr: buildQuantile(
            0.99,
            "payment_links_chain_scan_duration_seconds",
            namespaceSelector,
            "chain",
          ),
          legend: "{{chain}} seconds",
        },
      ],
    },
    {
      title: "Links and payments",
      description: "Links created and changed; settled payments by outcome.",
      unit: "reqps",
      queries: [
        {
          expr: `sum(rate(payment_links_created_total{${namespaceSelector}}[${rateInterval}]))`,
          legend: "created",
        },
        {
          expr: `sum by (from, to) (rate(payment_links_transitions_total{${namespaceSelector}}[${rateInterval}]))`,
          legend: "{{from}} to {{to}}",
        },
        {
          expr: `sum by (outcome) (rate(payment_links_payments_total{${namespaceSelector}}[${rateInterval}]))`,
          legend: "payment {{outcome}}",
        },
      ],
    },
  ],
};

const webhooksDashboard: Dashboard = {
  name: "webhooks",
  title: "Payment Links / Webhooks",
  panels: [
    {
      title: "Attempts",
      description: "By how they ended.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (outcome) (rate(payment_links_webhook_attempts_total{${namespaceSelector}}[${rateInterval}]))`,
          legend: "{{outcome}}",
        },
      ],
    },
    {
      title: "Event to first attempt",
      description: "Promised below 10 s.",
      unit: "s",
      queries: [0.5, 0.99].map((quantileRank) => ({
        expr: `histogram_quantile(${quantileRank}, sum by (le) (rate(payment_links_webhook_first_attempt_delay_seconds_bucket{${namespaceSelector}}[${rateInterval}])))`,
        legend: `p${quantileRank * 100}`,
      })),
    },
    {
      title: "Oldest due",
      description: "How long the delivery that has waited longest has been due.",
      unit: "s",
      queries: [
        {
          expr: `max(payment_links_webhook_oldest_due_age_seconds{${namespaceSelector}})`,
          legend: "oldest",
        },
      ],
    },
    {
      title: "Pending and under way",
      description:
        "Deliveries waiting or under way, counted up to 10 000, and attempts being made.",
      unit: "short",
      queries: [
        {
          expr: `max(payment_links_webhook_pending_deliveries{${namespaceSelector}})`,
          legend: "pending",
        },
        {
          expr: `sum(payment_links_webhook_attempts_under_way{${namespaceSelector}})`,
          legend: "under way",
        },
      ],
    },
  ],
};

const runtimeDashboard: Dashboard = {
  name: "runtime",
  title: "Payment Links / Runtime",
  panels: [
    {
      title: "CPU",
      description: "Cores in use, by pod.",
      unit: "short",
      queries: [
        {
          expr: `rate(process_cpu_seconds_total{${serviceSelector}}[${rateInterval}])`,
          legend: "{{service}} {{pod}}",
        },
      ],
    },
    {
      title: "Memory",
      description: "Resident, and the heap's part.",
      unit: "bytes",
      queries: [
        {
          expr: `process_resident_memory_bytes{${serviceSelector}}`,
          legend: "{{service}} {{pod}}",
        },
        {
          expr: `nodejs_heap_size_used_bytes{${serviceSelector}}`,
          legend: "{{service}} {{pod}} heap",
        },
      ],
    },
    {
      title: "Event loop",
      description: "p99 of its delay, beyond the 500 ms between two samples.",
      unit: "s",
      queries: [
        {
          expr: `clamp_min(nodejs_eventloop_lag_p99_seconds{${serviceSelector}} - 0.5, 0)`,
          legend: "{{service}} {{pod}}",
        },
      ],
    },
    {
      title: "Garbage collection",
      description: "Part of the time.",
      unit: "percentunit",
      queries: [
        {
          expr: `sum by (service, pod) (rate(nodejs_gc_duration_seconds_sum{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{service}} {{pod}}",
        },
      ],
    },
    {
      title: "Clock",
      description: "By how much it is ahead of Postgres', looked at once a minute.",
      unit: "s",
      queries: [
        {
          expr: `payment_links_clock_ahead_seconds{${serviceSelector}}`,
          legend: "{{service}} {{pod}}",
        },
      ],
    },
    {
      title: "Open files",
      description: "Sockets included.",
      unit: "short",
      queries: [{ expr: `process_open_fds{${serviceSelector}}`, legend: "{{service}} {{pod}}" }],
    },
    {
      title: "Age",
      description: "Seconds since each process began.",
      unit: "s",
      queries: [
        {
          expr: `time() - process_start_time_seconds{${serviceSelector}}`,
          legend: "{{service}} {{pod}}",
        },
      ],
    },
  ],
};

/** The Grafana dashboards in the chart. */
export const dashboards: readonly Dashboard[] = [
  sloDashboard,
  requestsDashboard,
  eventsDashboard,
  settlementDashboard,
  webhooksDashboard,
  runtimeDashboard,
];

/** Renders a dashboard as Grafana JSON with variables for data source, namespace and service. */
export const renderDashboard = ({ name, title, panels }: Dashboard): string => {
  const grafanaDashboard = {
    uid: `payment-links-${name}`,
    title,
    tags: ["payment-links"],
    schemaVersion: 39,
    editable: false,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    templating: { list: createVariables() },
    panels: panels.map(toGrafanaPanel),
  };
  return `${JSON.stringify(grafanaDashboard, undefined, 2)}\n`;
};

const datasource = { type: "prometheus", uid: "${datasource}" };

const createVariables = () => [
  { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
  ...["namespace", "service"].map((label) => ({
    name: label,
    label: label === "service" ? "Service" : "Namespace",
    type: "query",
    datasource,
    query: `label_values(payment_links_outbox_unsent_rows, ${label})`,
    includeAll: true,
    // Without a namespace label, as in a Prometheus outside Kubernetes, this filter matches
    // everything.
    allValue: ".*",
    multi: true,
    current: { text: "All", value: "$__all" },
    refresh: 2,
  })),
];

const columnCount = 2;
const gridWidth = 24;
const panelHeight = 8;

const toGrafanaPanel = ({ title, description, unit, queries }: Panel, index: number) => {
  const width = gridWidth / columnCount;
  return {
    id: index + 1,
    type: "timeseries",
    title,
    description,
    datasource,
    gridPos: {
      x: (index % columnCount) * width,
      y: Math.floor(index / columnCount) * panelHeight,
      w: width,
      h: panelHeight,
    },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { showLegend: true, placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: queries.map(({ expr, legend }, targetIndex) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + targetIndex),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
};
