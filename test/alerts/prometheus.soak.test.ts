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
import { needing } from "../helm/tools.ts";
import { findTool } from "../rig/find-tool.ts";
import { call } from "../rig/client.ts";
import { findFreePorts } from "../rig/free-port.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { alertsFolder, readRules } from "./chart-rules.ts";
import { type WatchedSet, openWatchedSet } from "./open-watched-set.ts";

const prometheus = findTool("prometheus");

const alertName = "PaymentLinksConsumerStopped";
/** The alert's own bound of a minute stays as it is. */
const override = { scrapeInterval: "1s", for: "5s" };

const Answer = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        value: z.tuple([z.number(), z.string()]),
      }),
    ),
  }),
});

needing("prometheus").describe("a real Prometheus", () => {
  let set: WatchedSet;
  let folder: string;
  let server: ChildProcess;
  let port = 0;
  let admin: Client;

  beforeAll(async () => {
    set = await openWatchedSet();
    folder = await mkdtemp(join(tmpdir(), "prometheus-"));
    [port = 0] = await findFreePorts(1);
    admin = new Client({ connectionString: set.adminUrl });
    await admin.connect();
    server = await startPrometheus(prometheus ?? "", { set, folder, port });
  });

  afterAll(async () => {
    await admin?.end();
    if (server?.exitCode === null) {
      server.kill("SIGTERM");
      await once(server, "exit");
    }
    await set?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** What Prometheus answers to a query; nothing as long as it does not answer. */
  const ask = async (query: string) => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`;
    const { status, body } = await call(url).catch(() => ({ status: 0, body: {} }));
    return status === 200 ? Answer.parse(body).data.result : [];
  };
  const firing = () => ask(`ALERTS{alertname="${alertName}",alertstate="firing"}`);

  test("knows every objective of the running set after one payment", async () => {
    await set.payOnce("first");
    await set.waitForWebhooks(2);
    const known = () => ask("count by (slo) (payment_links:slo_bad:ratio_rate5m)");
    const names = slos.map(({ name }) => name).sort();
    await waitUntil(
      "every objective has a ratio",
      async () => (await known()).length >= names.length,
    );
    expect((await known()).map(({ metric }) => String(metric["slo"])).sort()).toEqual(names);
  });

  test("scrapes the running set, fires for a consumer that stands still, and ends when it goes on", async () => {
    await waitUntil("four targets are up", async () => (await ask("up == 1")).length === 4);
    await waitUntil("consumers are seen", async () => {
      const fetches = await ask("payment_links_bus_consumer_last_fetch_timestamp_seconds");
      return fetches.length === 4;
    });
    expect(await firing()).toEqual([]);

    // Holding this lock keeps links-api from applying events; the rest of it goes on.
    await admin.query("BEGIN");
    await admin.query("LOCK TABLE links_api.positions IN ACCESS EXCLUSIVE MODE");
    await call(`${set.internalUrl}/internal/accounts`, {
      method: "POST",
      body: { handle: "stopped", username: "Stopped" },
    });
    const startedAt = performance.now();
    const fired = await waitUntil("the alert fires", async () => {
      const found = await firing();
      return found.length > 0 && found;
    });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stderr.write(`${alertName} fired ${seconds} s after the consumer was stopped\n`);
    expect(fired.map(({ metric }) => metric)).toEqual([
      expect.objectContaining({
        group: `${set.topicPrefix}links-api`,
        service: "links-api",
        severity: "page",
      }),
    ]);

    await admin.query("ROLLBACK");
    await waitUntil("the alert ends", async () => (await firing()).length === 0);
    // Before and after, it fires for no other service.
    expect(await ask(`ALERTS{alertname="${alertName}",alertstate="firing"}`)).toEqual([]);
  });
});

type Watching = { set: WatchedSet; folder: string; port: number };

/**
 * Starts Prometheus over the chart's own rules, with that one alert made quicker than operators
 * want it.
 */
const startPrometheus = async (program: string, { set, folder, port }: Watching) => {
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
  const targets = set.replicas.map(({ internalPort }) => `127.0.0.1:${internalPort}`);
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
