import { describe, expect, test } from "@jest/globals";
import { Counter, Gauge, Histogram } from "prom-client";
import { waitUntil } from "./testing/wait-until.ts";
import { injectDelay } from "./testing/inject-delay.ts";
import { addProcessMetrics, renderMetrics, metricsContentType, createMetrics } from "./metrics.ts";

/** Creates the metrics of a service with one metric family of each type. */
const createServiceMetrics = (name: string, count: number) => {
  const metrics = createMetrics(name);
  const registers = [metrics];
  new Counter({
    name: "payment_links_things_total",
    help: "Things, \\ and\nlines",
    registers,
    labelNames: ["kind"] as const,
  }).inc({ kind: 'a "quoted"\n\\ kind' }, count);
  new Gauge({ name: "payment_links_age_seconds", help: "Age", registers }).set(count);
  new Histogram({
    name: "payment_links_wait_seconds",
    help: "Wait",
    buckets: [1, 2],
    registers,
  }).observe(count);
  return metrics;
};

const samplePattern =
  /^([a-z0-9_]+)(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? \S+$/;

/** Parses the Prometheus text format 0.0.4 as strictly as scrapers do, and returns the series. */
const parseExposition = (text: string) => {
  expect(text.endsWith("\n")).toBe(true);
  const describedFamilies = new Set<string>();
  const series = new Set<string>();
  let family = "";
  for (const line of text.split("\n").filter((line) => line !== "")) {
    const header = /^# (HELP|TYPE) ([a-z0-9_]+) ./.exec(line);
    if (header !== null) {
      const [, keyword = "", name = ""] = header;
      expect([line, describedFamilies.has(keyword + name)]).toEqual([line, false]);
      describedFamilies.add(keyword + name);
      family = name;
    } else if (!line.startsWith("# ")) {
      expect(line).toMatch(samplePattern);
      // The samples of a family follow its header, and no sample appears twice.
      expect(line.startsWith(family)).toBe(true);
      const name = line.slice(0, line.lastIndexOf(" "));
      expect([name, series.has(name)]).toEqual([name, false]);
      series.add(name);
    }
  }
  return series;
};

describe("renderMetrics", () => {
  test("renders one service as valid text with its label on every series", async () => {
    const series = parseExposition(await renderMetrics([createServiceMetrics("links-api", 1)]));
    expect(series.size).toBe(7);
    for (const name of series) expect(name).toContain('service="links-api"');
  });

  test("distinguishes several services by the label and writes each family's header once", async () => {
    const serviceNames = ["links-api", "auth-keys", "webhook-dispatcher"];
    const text = await renderMetrics(
      serviceNames.map((name, index) => createServiceMetrics(name, index + 1)),
    );
    const series = parseExposition(text);
    expect(series.size).toBe(7 * serviceNames.length);
    expect(text).toContain('payment_links_age_seconds{service="links-api"} 1\n');
    expect(text).toContain('payment_links_age_seconds{service="webhook-dispatcher"} 3\n');
  });

  test("includes Node's process metrics, such as the start time, next to other services", async () => {
    const processMetrics = createMetrics("process");
    addProcessMetrics(processMetrics);
    const text = await renderMetrics([processMetrics, createServiceMetrics("links-api", 1)]);
    parseExposition(text);
    expect(text).toContain('process_start_time_seconds{service="process"}');
    expect(text).toContain("nodejs_eventloop_lag_seconds");
  });

  test("samples the event loop rarely enough for an idle process to sleep", async () => {
    const processMetrics = createMetrics("process");
    addProcessMetrics(processMetrics);
    const minLagGauge = processMetrics.getSingleMetric("nodejs_eventloop_lag_min_seconds");
    const readMinLagSeconds = async () => Number((await minLagGauge?.get())?.values[0]?.value);
    // Each read starts a new sampling period. The reported delay includes the interval between two
    // samples.
    const lagGauge = processMetrics.getSingleMetric("nodejs_eventloop_lag_seconds");
    await waitUntil("a delay is sampled", async () => {
      await injectDelay("quiet period", 700);
      await lagGauge?.get();
      const lagSeconds = await readMinLagSeconds();
      return lagSeconds > 0 && lagSeconds < 10;
    });
    expect(await readMinLagSeconds()).toBeGreaterThan(0.45);
  });

  test("omits a family that cannot be collected, with a comment", async () => {
    const metrics = createServiceMetrics("links-api", 1);
    const rowsGauge = new Gauge({
      name: "payment_links_rows",
      help: "Rows",
      registers: [],
      collect: () => Promise.reject(new Error("the database is unavailable")),
    });
    metrics.registerMetric(rowsGauge);
    const text = await renderMetrics([metrics, createServiceMetrics("auth-keys", 1)]);
    expect(parseExposition(text).size).toBe(14);
    expect(text).toContain("# payment_links_rows could not be collected\n");
    expect(text).not.toContain("away");
  });

  test("has the content type of the Prometheus text format", () => {
    expect(metricsContentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  });
});
