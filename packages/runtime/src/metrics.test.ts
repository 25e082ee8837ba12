import { describe, expect, test } from "@jest/globals";
import { Counter, Gauge, Histogram } from "prom-client";
import { waitUntil } from "./testing/wait-until.ts";
import { injectDelay } from "./testing/inject-delay.ts";
import { addProcessMetrics, exposeMetrics, metricsContentType, openMetrics } from "./metrics.ts";

/** A service with one family of each type, as every service has them. */
const openService = (name: string, count: number) => {
  const metrics = openMetrics(name);
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

const sample =
  /^([a-z0-9_]+)(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? \S+$/;

/** Checks a text against the Prometheus text format 0.0.4, as far as scrapers do. */
const check = (text: string) => {
  expect(text.endsWith("\n")).toBe(true);
  const described = new Set<string>();
  const series = new Set<string>();
  let family = "";
  for (const line of text.split("\n").filter((line) => line !== "")) {
    const head = /^# (HELP|TYPE) ([a-z0-9_]+) ./.exec(line);
    if (head !== null) {
      const [, kind = "", name = ""] = head;
      expect([line, described.has(kind + name)]).toEqual([line, false]);
      described.add(kind + name);
      family = name;
    } else if (!line.startsWith("# ")) {
      expect(line).toMatch(sample);
      // A family's samples follow its head, and no sample appears twice.
      expect(line.startsWith(family)).toBe(true);
      const name = line.slice(0, line.lastIndexOf(" "));
      expect([name, series.has(name)]).toEqual([name, false]);
      series.add(name);
    }
  }
  return series;
};

describe("exposeMetrics", () => {
  test("given one service, is valid and carries its label on every series", async () => {
    const series = check(await exposeMetrics([openService("links-api", 1)]));
    expect(series.size).toBe(7);
    for (const name of series) expect(name).toContain('service="links-api"');
  });

  test("given several, tells them apart by the label and heads each family once", async () => {
    const services = ["links-api", "auth-keys", "webhook-dispatcher"];
    const text = await exposeMetrics(services.map((name, index) => openService(name, index + 1)));
    const series = check(text);
    expect(series.size).toBe(7 * services.length);
    expect(text).toContain('payment_links_age_seconds{service="links-api"} 1\n');
    expect(text).toContain('payment_links_age_seconds{service="webhook-dispatcher"} 3\n');
  });

  test("keeps what Node tells of its process, its start among it, beside other services", async () => {
    const process = openMetrics("process");
    addProcessMetrics(process);
    const text = await exposeMetrics([process, openService("links-api", 1)]);
    check(text);
    expect(text).toContain('process_start_time_seconds{service="process"}');
    expect(text).toContain("nodejs_eventloop_lag_seconds");
  });

  test("samples the event loop so seldom that an idle process sleeps", async () => {
    const process = openMetrics("process");
    addProcessMetrics(process);
    const least = process.getSingleMetric("nodejs_eventloop_lag_min_seconds");
    const delayOf = async () => Number((await least?.get())?.values[0]?.value);
    // Each look begins a new count of samples; a delay holds the interval between two of them.
    const told = process.getSingleMetric("nodejs_eventloop_lag_seconds");
    await waitUntil("a delay is sampled", async () => {
      await injectDelay("quiet period", 700);
      await told?.get();
      const delay = await delayOf();
      return delay > 0 && delay < 10;
    });
    expect(await delayOf()).toBeGreaterThan(0.45);
  });

  test("given a family that cannot be collected, leaves out that one and says so", async () => {
    const metrics = openService("links-api", 1);
    const rows = new Gauge({
      name: "payment_links_rows",
      help: "Rows",
      registers: [],
      collect: () => Promise.reject(new Error("the database is away")),
    });
    metrics.registerMetric(rows);
    const text = await exposeMetrics([metrics, openService("auth-keys", 1)]);
    expect(check(text).size).toBe(14);
    expect(text).toContain("# payment_links_rows could not be collected\n");
    expect(text).not.toContain("away");
  });

  test("is said to be what it is", () => {
    expect(metricsContentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  });
});
