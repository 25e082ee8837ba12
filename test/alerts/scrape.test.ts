import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { chartRules, dashboardQueries, scalingMetrics } from "./chart-rules.ts";
import { metricNamesOf } from "./metric-names.ts";
import {
  type WatchedSet,
  openWatchedSet,
  watchedServices as services,
} from "./open-watched-set.ts";
import { needing } from "../helm/tools.ts";
import { runPromtool } from "./promtool.ts";

/** The names by which a family can be queried. */
const namesIn = (scrape: string): string[] =>
  [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );

describe("a scrape of the four services", () => {
  let set: WatchedSet;
  beforeAll(async () => {
    set = await openWatchedSet();
    await set.payOnce("first");
    await set.waitForWebhooks(2);
  });
  afterAll(() => set?.close());

  for (const service of services) {
    needing("promtool").test(`promtool has nothing to say of ${service}`, async () => {
      const scrape = await set.scrape(service);
      expect(await runPromtool(["check", "metrics"], scrape)).toEqual({ code: 0, said: "" });
    });
  }

  test("has every metric that an alert, a record, a dashboard or KEDA names", async () => {
    const scrapes = await Promise.all(services.map((service) => set.scrape(service)));
    const recorded = chartRules.flatMap(({ record }) => record ?? []);
    const known = new Set([...scrapes.flatMap(namesIn), ...recorded]);
    const named = [...chartRules.map(({ expr }) => expr), ...dashboardQueries].map(metricNamesOf);
    expect(named.filter((names) => names.length === 0)).toEqual([]);
    expect(scalingMetrics).toHaveLength(3);
    const asked = new Set([...named.flat(), ...scalingMetrics]);
    expect([...asked].filter((name) => !known.has(name))).toEqual([]);
  });
});
