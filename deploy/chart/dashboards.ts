import { burnRates, getCountMetric, getRatioMetric } from "./slo-rules.ts";

/** One panel: its title, description, unit, and queries by their legends in Grafana's format. */
type Panel = {
  title: string;
  description: string;
  unit: "s" | "reqps" | "percentunit" | "short" | "bytes" | "dateTimeAsIso";
  queries: Readonly<Record<string, string>>;
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
      queries: Object.fromEntries(
        [longWindow, shortWindow].map((window) => [
          `{{slo}} ${window}`,
          `${getRatioMetric(window)}{${namespaceSelector}}`,
        ]),
      ),
    },
    {
      title: `Bad events, ${longWindow}`,
      description:
        "An alert requires at least 10 bad events; for outbox-age, at least 2 bad minutes.",
      unit: "short",
      queries: { "{{slo}}": `${getCountMetric(longWindow)}{${namespaceSelector}}` },
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
      queries: {
        "{{http_request_method}} {{http_route}}": `sum by (http_request_method, http_route) (rate(${requestsMetric}_count{${serviceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Errors",
      description: "Fraction of 5xx responses, by route.",
      unit: "percentunit",
      queries: {
        "{{http_route}}":
          `sum by (http_route) (rate(${requestsMetric}_count{${serviceSelector},http_response_status_code=~"5.."}[${rateInterval}]))` +
          ` / sum by (http_route) (rate(${requestsMetric}_count{${serviceSelector}}[${rateInterval}]))`,
      },
    },
    ...[0.5, 0.95, 0.99].map((quantileRank) => ({
      title: `Duration, p${quantileRank * 100}`,
      description: "From the arrival of a request until the end of the response.",
      unit: "s" as const,
      queries: {
        "{{http_route}}": buildQuantile(
          quantileRank,
          requestsMetric,
          serviceSelector,
          "http_route",
        ),
      },
    })),
    {
      title: "Status codes",
      description: "429: rate limited. 499: the client disconnected.",
      unit: "reqps",
      queries: {
        "{{http_response_status_code}}": `sum by (http_response_status_code) (rate(${requestsMetric}_count{${serviceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Rate limits",
      description: "Tokens taken and requests rejected, by policy.",
      unit: "reqps",
      queries: {
        "{{policy}} {{decision}}": `sum by (policy, decision) (rate(payment_links_rate_limit_decisions_total{${serviceSelector}}[${rateInterval}]))`,
        "{{service}} without Redis": `max by (service) (payment_links_rate_limit_degraded{${serviceSelector}})`,
      },
    },
    {
      title: "Connections",
      description: "Open connections by state; connections closed or rejected per hour.",
      unit: "short",
      queries: {
        "{{listener}}, {{state}}": `sum by (listener, state) (payment_links_connections{${serviceSelector}})`,
        "closed, {{reason}}": `sum by (reason) (increase(payment_links_connections_ended_total{${serviceSelector}}[1h]))`,
      },
    },
    {
      title: "Exports",
      description: "Running exports by state, and results per hour.",
      unit: "short",
      queries: {
        "{{state}}": `sum by (state) (payment_links_exports_under_way{${serviceSelector}})`,
        "ended, {{outcome}}": `sum by (outcome) (increase(payment_links_exports_total{${serviceSelector}}[1h]))`,
      },
    },
    {
      title: "Event streams",
      description: "Open streams by pod; rejected and closed streams, and failed reads, per hour.",
      unit: "short",
      queries: {
        "{{pod}}": `sum by (pod) (payment_links_event_streams{${serviceSelector}})`,
        "rejected, limit per {{bound}}": `sum by (bound) (increase(payment_links_event_streams_refused_total{${serviceSelector}}[1h]))`,
        "closed, {{why}}": `sum by (why) (increase(payment_links_event_streams_ended_total{${serviceSelector}}[1h]))`,
        "failed reads": `sum(increase(payment_links_failed_looks_total{${serviceSelector}}[1h]))`,
      },
    },
    {
      title: "Requests to auth-keys",
      description: "By outcome, and p99 of their duration.",
      unit: "reqps",
      queries: {
        "{{kind}} {{outcome}}": `sum by (kind, outcome) (rate(payment_links_identity_questions_total{${serviceSelector}}[${rateInterval}]))`,
        "p99 of {{kind}}, seconds": buildQuantile(
          0.99,
          "payment_links_identity_question_duration_seconds",
          serviceSelector,
          "kind",
        ),
      },
    },
    {
      title: "auth-keys unreachable",
      description:
        "1: creating links fails immediately; listing links and the console fail after a minute.",
      unit: "short",
      queries: {
        "{{service}}": `max by (service) (payment_links_identity_unreachable{${serviceSelector}})`,
      },
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
      queries: {
        "{{service}}": `max by (service) (payment_links_outbox_oldest_unsent_age_seconds{${serviceSelector}})`,
      },
    },
    {
      title: "Unsent events",
      description: "Counted up to 10,000.",
      unit: "short",
      queries: {
        "{{service}}": `max by (service) (payment_links_outbox_unsent_rows{${serviceSelector}})`,
      },
    },
    {
      title: "Events sent",
      description: "Sent events, and failed runs of the relay.",
      unit: "reqps",
      queries: {
        "{{service}}": `sum by (service) (rate(payment_links_outbox_sent_total{${serviceSelector}}[${rateInterval}]))`,
        "{{service}} failed": `sum by (service) (rate(payment_links_outbox_failures_total{${serviceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Lag, p99",
      description: "Delay from an event until it is applied.",
      unit: "s",
      queries: {
        "{{group}} {{topic}}": buildQuantile(
          0.99,
          "payment_links_consumer_lag_seconds",
          serviceSelector,
          "group, topic",
        ),
      },
    },
    {
      title: "Events consumed",
      description: "By outcome: applied, repeated (duplicate), ignored or parked (dead letter).",
      unit: "reqps",
      queries: {
        "{{group}} {{outcome}}": `sum by (group, outcome) (rate(payment_links_consumer_events_total{${serviceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Time since last fetch",
      description: "A working consumer fetches every second, even if there are no new records.",
      unit: "s",
      queries: {
        "{{group}} {{pod}}": `time() - payment_links_bus_consumer_last_fetch_timestamp_seconds{${serviceSelector}}`,
      },
    },
    {
      title: "Time since last record",
      description: "Also grows when there are no new records.",
      unit: "s",
      queries: {
        "{{group}} {{topic}}": `time() - max by (group, topic) (payment_links_consumer_last_progress_timestamp_seconds{${serviceSelector}})`,
      },
    },
    {
      title: "All links received",
      description:
        "Age of the sender's last markers. All events sent before them have been received.",
      unit: "s",
      queries: {
        "{{group}} {{topic}}": `time() - max by (group, topic) (payment_links_consumer_heard_until_timestamp_seconds{topic="payment-links.v1",${serviceSelector}})`,
      },
    },
    {
      title: "Problems",
      description:
        "Current dead letters; waits, crashes, offset resets and version jumps per hour.",
      unit: "short",
      queries: {
        "{{group}} dead letters": `max by (group) (payment_links_dead_letters_parked{${serviceSelector}})`,
        "{{group}} waits": `sum by (group) (increase(payment_links_consumer_waits_total{${serviceSelector}}[1h]))`,
        "{{group}} crashes": `sum by (group) (increase(payment_links_bus_consumer_crashes_total{${serviceSelector}}[1h]))`,
        "{{group}} offset resets": `sum by (group) (increase(payment_links_bus_positions_reset_total{${serviceSelector}}[1h]))`,
        "{{service}} version jumps": `sum by (service) (increase(payment_links_version_jumps_total{${serviceSelector}}[1h]))`,
        "{{service}} link version jumps": `sum by (service) (increase(payment_links_link_version_jumps_total{${serviceSelector}}[1h]))`,
      },
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
      queries: {
        "{{chain}}": `max by (chain) (payment_links_chain_head_lag_seconds{${namespaceSelector}})`,
      },
    },
    {
      title: "Finality lag",
      description: "Age of the last final block, by its timestamp.",
      unit: "s",
      queries: {
        "{{chain}}": `max by (chain) (payment_links_chain_finalized_lag_seconds{${namespaceSelector}})`,
      },
    },
    {
      title: "Audit lag",
      description: "Scanned final blocks that another provider has not audited yet.",
      unit: "short",
      queries: {
        "{{chain}} blocks": `max by (chain) (payment_links_chain_audit_lag_blocks{${namespaceSelector}})`,
      },
    },
    {
      title: "Stopped chains",
      description:
        "1: halted until an operator resumes it, or rejected because it differs from the catalogue.",
      unit: "short",
      queries: {
        "{{chain}} halted": `max by (chain) (payment_links_chain_halted{${namespaceSelector}})`,
        "{{chain}} rejected": `max by (chain) (payment_links_chain_refused{${namespaceSelector}})`,
      },
    },
    {
      title: "Unread mempool transactions",
      description: "On chains whose mempool is tracked.",
      unit: "short",
      queries: {
        "{{chain}}": `max by (chain) (payment_links_chain_waiting_unread{${namespaceSelector}})`,
      },
    },
    {
      title: "Transfers",
      description: "Through fee proxies, by outcome.",
      unit: "reqps",
      queries: {
        "{{chain}} {{outcome}}": `sum by (chain, outcome) (rate(payment_links_chain_transfers_total{${namespaceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Provider notices",
      description: "By outcome.",
      unit: "reqps",
      queries: {
        "{{provider}} {{outcome}}": `sum by (provider, outcome) (rate(payment_links_settlement_notices_total{${namespaceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Waiting payments",
      description: "Deferred until their link arrives, or processing until they are final.",
      unit: "short",
      queries: {
        deferred: `max(payment_links_settlement_parked_payments{${namespaceSelector}})`,
        processing: `max(payment_links_settlement_processing_payments{${namespaceSelector}})`,
      },
    },
    {
      title: "Oldest waiting payment",
      description: "How long it has waited.",
      unit: "s",
      queries: {
        deferred: `max(payment_links_settlement_oldest_parked_age_seconds{${namespaceSelector}})`,
        processing: `max(payment_links_settlement_oldest_processing_age_seconds{${namespaceSelector}})`,
      },
    },
    {
      title: "RPC requests",
      description: "By provider and outcome.",
      unit: "reqps",
      queries: {
        "{{chain}} {{provider}} {{outcome}}": `sum by (chain, provider, outcome) (rate(payment_links_chain_rpc_requests_total{${namespaceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Unused RPC providers",
      description: "1: paused after failures, or ignored because it differs from the catalogue.",
      unit: "short",
      queries: {
        "{{chain}} {{provider}}": `max by (chain, provider) (payment_links_chain_rpc_circuit_open{${namespaceSelector}})`,
        "{{chain}} {{provider}} ignored": `max by (chain, provider) (payment_links_chain_provider_ignored{${namespaceSelector}})`,
      },
    },
    {
      title: "Disagreements per hour",
      description:
        "Between providers, between scan and audit, and between notices. Also failing background jobs and orphaned payments.",
      unit: "short",
      queries: {
        "{{chain}} {{kind}}": `sum by (chain, kind) (increase(payment_links_chain_rpc_disagreements_total{${namespaceSelector}}[1h]))`,
        "{{chain}} audit {{kind}}": `sum by (chain, kind) (increase(payment_links_chain_audit_differences_total{${namespaceSelector}}[1h]))`,
        "{{chain}} contradiction {{kind}}": `sum by (chain, kind) (increase(payment_links_chain_contradictions_total{${namespaceSelector}}[1h]))`,
        "{{chain}} disagreeing providers": `max by (chain) (payment_links_chain_providers{${namespaceSelector}}) - max by (chain) (payment_links_chain_agreeing_providers{${namespaceSelector}})`,
        "{{chain}} {{duty}} fails": `max by (chain, duty) (payment_links_chain_duty_failing{${namespaceSelector}})`,
        "{{provider}} conflicts": `sum by (provider) (increase(payment_links_settlement_conflicts_total{${namespaceSelector}}[1h]))`,
        "{{chain}} orphaned after settled": `sum by (chain) (increase(payment_links_chain_orphaned_after_settled_total{${namespaceSelector}}[1h]))`,
        "credited and orphaned": `sum(increase(payment_links_payments_orphaned_total{${namespaceSelector}}[1h]))`,
      },
    },
    {
      title: "Reorg depth and scan duration, p99",
      description:
        "Blocks removed by a reorg; seconds from the request for blocks until the commit.",
      unit: "short",
      queries: {
        "{{chain}} blocks": buildQuantile(
          0.99,
          "payment_links_chain_reorg_depth_blocks",
          namespaceSelector,
          "chain",
        ),
        "{{chain}} seconds": buildQuantile(
          0.99,
          "payment_links_chain_scan_duration_seconds",
          namespaceSelector,
          "chain",
        ),
      },
    },
    {
      title: "Links and payments",
      description: "Links created and changed; settled payments by outcome.",
      unit: "reqps",
      queries: {
        created: `sum(rate(payment_links_created_total{${namespaceSelector}}[${rateInterval}]))`,
        "{{from}} to {{to}}": `sum by (from, to) (rate(payment_links_transitions_total{${namespaceSelector}}[${rateInterval}]))`,
        "payment {{outcome}}": `sum by (outcome) (rate(payment_links_payments_total{${namespaceSelector}}[${rateInterval}]))`,
      },
    },
  ],
};

const webhooksDashboard: Dashboard = {
  name: "webhooks",
  title: "Payment Links / Webhooks and emails",
  panels: [
    {
      title: "Attempts",
      description: "By outcome.",
      unit: "reqps",
      queries: {
        "{{outcome}}": `sum by (outcome) (rate(payment_links_webhook_attempts_total{${namespaceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Event to first attempt",
      description: "SLO: less than 10 s.",
      unit: "s",
      queries: Object.fromEntries(
        [0.5, 0.99].map((quantileRank) => [
          `p${quantileRank * 100}`,
          `histogram_quantile(${quantileRank}, sum by (le) (rate(payment_links_webhook_first_attempt_delay_seconds_bucket{${namespaceSelector}}[${rateInterval}])))`,
        ]),
      ),
    },
    {
      title: "Oldest due delivery",
      description: "How long it has been due.",
      unit: "s",
      queries: {
        oldest: `max(payment_links_webhook_oldest_due_age_seconds{${namespaceSelector}})`,
      },
    },
    {
      title: "Deliveries and attempts",
      description: "Unfinished deliveries (counted up to 10,000) and running attempts.",
      unit: "short",
      queries: {
        pending: `max(payment_links_webhook_pending_deliveries{${namespaceSelector}})`,
        running: `sum(payment_links_webhook_attempts_under_way{${namespaceSelector}})`,
      },
    },
    {
      title: "Emails",
      description:
        "Attempts by type and outcome. A failed notification is repeated; one that is given up, and a receipt, are not.",
      unit: "short",
      queries: {
        "{{type}} {{outcome}}": `sum by (type, outcome) (increase(payment_links_emails_total{${namespaceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Oldest due email",
      description: "How long it has been due.",
      unit: "s",
      queries: {
        oldest: `max(payment_links_email_oldest_due_age_seconds{${namespaceSelector}})`,
      },
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
      queries: {
        "{{service}} {{pod}}": `rate(process_cpu_seconds_total{${serviceSelector}}[${rateInterval}])`,
      },
    },
    {
      title: "Memory",
      description: "Resident memory and used heap.",
      unit: "bytes",
      queries: {
        "{{service}} {{pod}}": `process_resident_memory_bytes{${serviceSelector}}`,
        "{{service}} {{pod}} heap": `nodejs_heap_size_used_bytes{${serviceSelector}}`,
      },
    },
    {
      title: "Event loop",
      description: "p99 of the delay, without the sampling interval of 500 ms.",
      unit: "s",
      queries: {
        "{{service}} {{pod}}": `clamp_min(nodejs_eventloop_lag_p99_seconds{${serviceSelector}} - 0.5, 0)`,
      },
    },
    {
      title: "Garbage collection",
      description: "Fraction of time.",
      unit: "percentunit",
      queries: {
        "{{service}} {{pod}}": `sum by (service, pod) (rate(nodejs_gc_duration_seconds_sum{${serviceSelector}}[${rateInterval}]))`,
      },
    },
    {
      title: "Clock",
      description: "How far the pod's clock is ahead of Postgres' clock, measured once a minute.",
      unit: "s",
      queries: {
        "{{service}} {{pod}}": `payment_links_clock_ahead_seconds{${serviceSelector}}`,
      },
    },
    {
      title: "Open files",
      description: "Including sockets.",
      unit: "short",
      queries: { "{{service}} {{pod}}": `process_open_fds{${serviceSelector}}` },
    },
    {
      title: "Uptime",
      description: "Time since the process started.",
      unit: "s",
      queries: {
        "{{service}} {{pod}}": `time() - process_start_time_seconds{${serviceSelector}}`,
      },
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
    targets: Object.entries(queries).map(([legend, expr], targetIndex) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + targetIndex),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
};
