import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { chartRules, dashboardQueries, scalingMetrics } from "./chart-rules.ts";
import { extractMetricNames } from "./metric-names.ts";
import {
  type MonitoredSystem,
  startMonitoredSystem,
  monitoredServices as services,
} from "./start-monitored-system.ts";
import { requireTools } from "../helm/require-tools.ts";
import { runPromtool } from "./promtool.ts";

/** Lists the metric names that can be queried after this scrape. */
const listSeriesNames = (scrape: string): string[] =>
  [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );

describe("a scrape of the four services", () => {
  let system: MonitoredSystem;
  beforeAll(async () => {
    system = await startMonitoredSystem();
    await system.payOnce("first");
    await system.waitForWebhooks(2);
  });
  afterAll(() => system?.close());

  for (const service of services) {
    requireTools("promtool").test(`passes promtool's check for ${service}`, async () => {
      const scrape = await system.scrape(service);
      expect(await runPromtool(["check", "metrics"], scrape)).toEqual({ code: 0, output: "" });
    });
  }

  test("has every metric that an alert, a recording rule, a dashboard or KEDA uses", async () => {
    const scrapes = await Promise.all(services.map((service) => system.scrape(service)));
    const recordedNames = chartRules.flatMap(({ record }) => record ?? []);
    const knownNames = new Set([...scrapes.flatMap(listSeriesNames), ...recordedNames]);
    const namesPerExpression = [...chartRules.map(({ expr }) => expr), ...dashboardQueries].map(
      extractMetricNames,
    );
    expect(namesPerExpression.filter((names) => names.length === 0)).toEqual([]);
    expect(scalingMetrics).toHaveLength(3);
    const requiredNames = new Set([...namesPerExpression.flat(), ...scalingMetrics]);
    expect([...requiredNames].filter((name) => !knownNames.has(name))).toEqual([]);
  });
});
