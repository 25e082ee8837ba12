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
  title: "Payment Links / SLOs",
  panels: burnRates.flatMap(({ severity, factor, longWindow, shortWindow }): Panel[] => [
    {
      title: `Bad ratio, ${longWindow} and ${shortWindow}`,
      description:
        "The fraction of bad events for each SLO. " +
        `If both windows exceed ${factor} × (1 − target), the alert is a ${severity}.`,
      unit: "percentunit",
      queries: [longWindow, shortWindow].map((window) => ({
        expr: `${getRatioMetric(window)}{${namespaceSelector}}`,
        legend: `{{slo}} ${window}`,
      })),
    },
    {
      title: `Bad events, ${longWindow}`,
      description:
        "An alert requires at least 10 bad events; for outbox-age, at least 2 bad minutes.",
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
      description: "Fraction of 5xx responses, by route.",
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
      description: "From the arrival of a request until the end of the response.",
      unit: "s" as const,
      queries: [
        {
          expr: buildQuantile(quantileRank, requestsMetric, serviceSelector, "http_route"),
          legend: "{{http_route}}",
        },
      ],
    })),
    {
      title: "Status codes",
      description: "429: rate limited. 499: the client disconnected.",
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
      description: "Tokens taken and requests rejected, by policy.",
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
      description: "Open connections by state; connections closed or rejected per hour.",
      unit: "short",
      queries: [
        {
          expr: `sum by (listener, state) (payment_links_connections{${serviceSelector}})`,
          legend: "{{listener}}, {{state}}",
        },
        {
          expr: `sum by (reason) (increase(payment_links_connections_ended_total{${serviceSelector}}[1h]))`,
          legend: "closed, {{reason}}",
        },
      ],
    },
    {
      title: "Exports",
      description: "Running exports by state, and results per hour.",
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
      description: "Open streams by pod; rejected and closed streams, and failed reads, per hour.",
      unit: "short",
      queries: [
        {
          expr: `sum by (pod) (payment_links_event_streams{${serviceSelector}})`,
          legend: "{{pod}}",
        },
        {
          expr: `sum by (bound) (increase(payment_links_event_streams_refused_total{${serviceSelector}}[1h]))`,
          legend: "rejected, limit per {{bound}}",
        },
        {
          expr: `sum by (why) (increase(payment_links_event_streams_ended_total{${serviceSelector}}[1h]))`,
          legend: "closed, {{why}}",
        },
        {
          expr: `sum(increase(payment_links_failed_looks_total{${serviceSelector}}[1h]))`,
          legend: "failed reads",
        },
      ],
    },
    {
      title: "Requests to auth-keys",
      description: "By outcome, and p99 of their duration.",
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
      title: "auth-keys unreachable",
      description:
        "1: creating links fails immediately; listing links and the console fail after a minute.",
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
      description: "How long it has waited in the outbox. SLO: less than 5 s.",
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
      description: "Counted up to 10,000.",
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
      description: "Sent events, and failed runs of the relay.",
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
      description: "Delay from an event until it is applied.",
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
      description: "By outcome: applied, repeated (duplicate), ignored or parked (dead letter).",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (group, outcome) (rate(payment_links_consumer_events_total{${serviceSelector}}[${rateInterval}]))`,
          legend: "{{group}} {{outcome}}",
        },
      ],
    },
    {
      title: "Time since last fetch",
      description: "A working consumer fetches every second, even if there are no new records.",
      unit: "s",
      queries: [
        {
          expr: `time() - payment_links_bus_consumer_last_fetch_timestamp_seconds{${serviceSelector}}`,
          legend: "{{group}} {{pod}}",
        },
      ],
    },
    {
      title: "Time since last record",
      description: "Also grows when there are no new records.",
      unit: "s",
      queries: [
        {
          expr: `time() - max by (group, topic) (payment_links_consumer_last_progress_timestamp_seconds{${serviceSelector}})`,
          legend: "{{group}} {{topic}}",
        },
      ],
    },
    {
      title: "All links received",
      description:
        "Age of the sender's last markers. All events sent before them have been received.",
      unit: "s",
      queries: [
        {
          expr: `time() - max by (group, topic) (payment_links_consumer_heard_until_timestamp_seconds{topic="payment-links.v1",${serviceSelector}})`,
          legend: "{{group}} {{topic}}",
        },
      ],
    },
    {
      title: "Problems",
      description:
        "Current dead letters; waits, crashes, offset resets and version jumps per hour.",
      unit: "short",
      queries: [
        {
          expr: `max by (group) (payment_links_dead_letters_parked{${serviceSelector}})`,
          legend: "{{group}} dead letters",
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
          legend: "{{group}} offset resets",
        },
        {
          expr: `sum by (service) (increase(payment_links_version_jumps_total{${serviceSelector}}[1h]))`,
          legend: "{{service}} version jumps",
        },
        {
          expr: `sum by (service) (increase(payment_links_link_version_jumps_total{${serviceSelector}}[1h]))`,
          legend: "{{service}} link version jumps",
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
      title: "Scan lag",
      description: "Age of the last scanned block, by its timestamp.",
      unit: "s",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_head_lag_seconds{${namespaceSelector}})`,
          legend: "{{chain}}",
        },
      ],
    },
    {
      title: "Finality lag",
      description: "Age of the last final block, by its timestamp.",
      unit: "s",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_finalized_lag_seconds{${namespaceSelector}})`,
          legend: "{{chain}}",
        },
      ],
    },
    {
      title: "Audit lag",
      description: "Scanned final blocks that another provider has not audited yet.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_audit_lag_blocks{${namespaceSelector}})`,
          legend: "{{chain}} blocks",
        },
      ],
    },
    {
      title: "Stopped chains",
      description:
        "1: halted until an operator resumes it, or rejected because it differs from the catalogue.",
      unit: "short",
      queries: [
        {
          expr: `max by (chain) (payment_links_chain_halted{${namespaceSelector}})`,
          legend: "{{chain}} halted",
        },
        {
          expr: `max by (chain) (payment_links_chain_refused{${namespaceSelector}})`,
          legend: "{{chain}} rejected",
        },
      ],
    },
    {
      title: "Unread mempool transactions",
      description: "On chains whose mempool is tracked.",
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
      description: "Through fee proxies, by outcome.",
      unit: "reqps",
      queries: [
        {
          expr: `sum by (chain, outcome) (rate(payment_links_chain_transfers_total{${namespaceSelector}}[${rateInterval}]))`,
          legend: "{{chain}} {{outcome}}",
        },
      ],
    },
    {
      title: "Provider notices",
      description: "By outcome.",
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
      description: "Deferred until their link arrives, or processing until they are final.",
      unit: "short",
      queries: [
        {
          expr: `max(payment_links_settlement_parked_payments{${namespaceSelector}})`,
          legend: "deferred",
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
          legend: "deferred",
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
      title: "Unused RPC providers",
      description: "1: paused after failures, or ignored because it differs from the catalogue.",
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
      title: "Disagreements per hour",
      description:
        "Between providers, between scan and audit, and between notices. Also failing background jobs and orphaned payments.",
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
          legend: "{{chain}} contradiction {{kind}}",
        },
        {
          expr: `max by (chain) (payment_links_chain_providers{${namespaceSelector}}) - max by (chain) (payment_links_chain_agreeing_providers{${namespaceSelector}})`,
          legend: "{{chain}} disagreeing providers",
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
      title: "Reorg depth and scan duration, p99",
      description:
        "Blocks removed by a reorg; seconds from the request for blocks until the commit.",
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
      description: "By outcome.",
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
      description: "SLO: less than 10 s.",
      unit: "s",
      queries: [0.5, 0.99].map((quantileRank) => ({
        expr: `histogram_quantile(${quantileRank}, sum by (le) (rate(payment_links_webhook_first_attempt_delay_seconds_bucket{${namespaceSelector}}[${rateInterval}])))`,
        legend: `p${quantileRank * 100}`,
      })),
    },
    {
      title: "Oldest due delivery",
      description: "How long it has been due.",
      unit: "s",
      queries: [
        {
          expr: `max(payment_links_webhook_oldest_due_age_seconds{${namespaceSelector}})`,
          legend: "oldest",
        },
      ],
    },
    {
      title: "Deliveries and attempts",
      description: "Unfinished deliveries (counted up to 10,000) and running attempts.",
      unit: "short",
      queries: [
        {
          expr: `max(payment_links_webhook_pending_deliveries{${namespaceSelector}})`,
          legend: "pending",
        },
        {
          expr: `sum(payment_links_webhook_attempts_under_way{${namespaceSelector}})`,
          legend: "running",
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
      description: "Resident memory and used heap.",
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
      description: "p99 of the delay, without the sampling interval of 500 ms.",
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
      description: "Fraction of time.",
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
      description: "How far the pod's clock is ahead of Postgres' clock, measured once a minute.",
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
      description: "Including sockets.",
      unit: "short",
      queries: [{ expr: `process_open_fds{${serviceSelector}}`, legend: "{{service}} {{pod}}" }],
    },
    {
      title: "Uptime",
      description: "Time since the process started.",
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
    // This filter also matches series without a namespace label, for example of a Prometheus
    // outside Kubernetes.
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
