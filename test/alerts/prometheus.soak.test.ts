import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { slos } from "@payment-links/deploy/chart/slos";
import { Client } from "pg";
import { stringify } from "yaml";
import * as z from "zod";
import { requireTools } from "../helm/require-tools.ts";
import { findTool } from "../rig/find-tool.ts";
import { call } from "../rig/client.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { alertsFolder, readRules } from "./chart-rules.ts";
import { type MonitoredSystem, startMonitoredSystem } from "./start-monitored-system.ts";

const prometheus = findTool("prometheus");

const alertName = "PaymentLinksConsumerStopped";
/** The one-minute threshold in the alert's expression is unchanged. */
const override = { scrapeInterval: "1s", for: "5s" };

const QueryResponse = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        value: z.tuple([z.number(), z.string()]),
      }),
    ),
  }),
});

requireTools("prometheus").describe("a real Prometheus", () => {
  let system: MonitoredSystem;
  let folder: string;
  let server: ChildProcess;
  let port = 0;
  let admin: Client;

  beforeAll(async () => {
    system = await startMonitoredSystem();
    folder = await mkdtemp(join(tmpdir(), "prometheus-"));
    [port = 0] = await findFreePorts(1);
    admin = new Client({ connectionString: system.adminUrl });
    await admin.connect();
    server = await startPrometheus(prometheus ?? "", { system, folder, port });
  });

  afterAll(async () => {
    await admin?.end();
    if (server?.exitCode === null) {
      server.kill("SIGTERM");
      await once(server, "exit");
    }
    await system?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Returns the result of a query, or an empty list while Prometheus does not respond. */
  const queryPrometheus = async (query: string) => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`;
    const { status, body } = await call(url).catch(() => ({ status: 0, body: {} }));
    return status === 200 ? QueryResponse.parse(body).data.result : [];
  };
  const queryFiringAlerts = () =>
    queryPrometheus(`ALERTS{alertname="${alertName}",alertstate="firing"}`);

  test("records every objective of the running services after one payment", async () => {
    await system.payOnce("first");
    await system.waitForWebhooks(2);
    const queryObjectives = () =>
      queryPrometheus("count by (slo) (payment_links:slo_bad:ratio_rate5m)");
    const names = slos.map(({ name }) => name).sort();
    await waitUntil(
      "every objective has a ratio",
      async () => (await queryObjectives()).length >= names.length,
    );
    expect((await queryObjectives()).map(({ metric }) => String(metric["slo"])).sort()).toEqual(
      names,
    );
  });

  test("scrapes the running services, fires for a stalled consumer, and resolves when it resumes", async () => {
    await waitUntil(
      "four targets are up",
      async () => (await queryPrometheus("up == 1")).length === 4,
    );
    await waitUntil("Prometheus has scraped the consumers", async () => {
      const fetches = await queryPrometheus(
        "payment_links_bus_consumer_last_fetch_timestamp_seconds",
      );
      return fetches.length === 4;
    });
    expect(await queryFiringAlerts()).toEqual([]);

    // This lock stops links-api from applying events. The rest of links-api keeps running.
    await admin.query("BEGIN");
    await admin.query("LOCK TABLE links_api.positions IN ACCESS EXCLUSIVE MODE");
    await call(`${system.internalUrl}/internal/accounts`, {
      method: "POST",
      body: { handle: "stopped", username: "Stopped" },
    });
    const startedAt = performance.now();
    const firedAlerts = await waitUntil("the alert fires", async () => {
      const firingAlerts = await queryFiringAlerts();
      return firingAlerts.length > 0 && firingAlerts;
    });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stderr.write(`${alertName} fired ${seconds} s after the consumer was stopped\n`);
    expect(firedAlerts.map(({ metric }) => metric)).toEqual([
      expect.objectContaining({
        group: `${system.topicPrefix}links-api`,
        service: "links-api",
        severity: "page",
      }),
    ]);

    await admin.query("ROLLBACK");
    await waitUntil("the alert resolves", async () => (await queryFiringAlerts()).length === 0);
    // The alert must not be firing for any service.
    expect(await queryPrometheus(`ALERTS{alertname="${alertName}",alertstate="firing"}`)).toEqual(
      [],
    );
  });
});

type PrometheusOptions = { system: MonitoredSystem; folder: string; port: number };

/**
 * Starts Prometheus with the chart's own rules. The tested alert has a shorter `for` duration than
 * in production.
 */
const startPrometheus = async (program: string, { system, folder, port }: PrometheusOptions) => {
  const rules = readRules(join(alertsFolder, "causes.yaml"));
  const alert = rules.groups
    .flatMap((group) => group.rules)
    .find((rule) => rule.alert === alertName);
  if (alert === undefined) throw new Error(`the chart has no alert ${alertName}`);
  process.stderr.write(
    `for this test: scraped every ${override.scrapeInterval}, ` +
      `${alertName} for ${override.for} instead of ${alert.for}\n`,
  );
  alert.for = override.for;
  await writeFile(join(folder, "rules.yaml"), stringify(rules, { lineWidth: 0 }));
  const targets = system.replicas.map(({ internalPort }) => `127.0.0.1:${internalPort}`);
  const config = {
    global: {
      scrape_interval: override.scrapeInterval,
      scrape_timeout: override.scrapeInterval,
      evaluation_interval: override.scrapeInterval,
    },
    rule_files: [join(folder, "rules.yaml"), join(alertsFolder, "slo.yaml")],
    scrape_configs: [
      { job_name: "payment-links", honor_labels: true, static_configs: [{ targets }] },
    ],
  };
  await writeFile(join(folder, "prometheus.yaml"), stringify(config));
  return spawn(
    program,
    [
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
};
