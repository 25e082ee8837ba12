import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { chartRules, dashboardQueries } from "./chart-rules.ts";
import { metricNamesOf } from "./metric-names.ts";
import { type WatchedSet, openWatchedSet } from "./open-watched-set.ts";
import { needing } from "../helm/tools.ts";
import { runPromtool } from "./promtool.ts";

const services = ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"] as const;
const accountCount = 1_000;
const atOnce = 4;
const servedPartMin = 0.9;
const seriesPerPodMax = 1_500;
const loadMsMax = 240_000;

/** Label names that would make the number of series grow with use. */
const unbounded = /[{,](?:account|user|user_id|merchant|link|link_id|key|url|host|tx|hash|error)="/;

const samplesOf = (scrape: string): string[] =>
  scrape.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

/** The names by which a family can be queried. */
const namesIn = (scrape: string): string[] =>
  [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );

describe("a scrape of the four services", () => {
  let set: WatchedSet;
  beforeAll(async () => {
    set = await openWatchedSet(9);
    await set.payOnce("first");
    await set.waitForWebhooks(2);
  }, 120_000);
  afterAll(() => set?.close(), 60_000);

  for (const service of services) {
    needing("promtool").test(`promtool has nothing to say of ${service}`, async () => {
      const scrape = await set.scrape(service);
      expect(await runPromtool(["check", "metrics"], scrape)).toEqual({ code: 0, said: "" });
    });
  }

  test("has every metric that an alert, a record or a dashboard names", async () => {
    const scrapes = await Promise.all(services.map((service) => set.scrape(service)));
    const recorded = chartRules.flatMap(({ record }) => record ?? []);
    const known = new Set([...scrapes.flatMap(namesIn), ...recorded]);
    const named = [...chartRules.map(({ expr }) => expr), ...dashboardQueries].map(metricNamesOf);
    expect(named.filter((names) => names.length === 0)).toEqual([]);
    expect([...new Set(named.flat())].filter((name) => !known.has(name))).toEqual([]);
  });

  test(
    "has under 1,500 series per pod after load from 1,000 accounts, none of them by account",
    async () => {
      const before = await Promise.all(services.map((service) => set.scrape(service)));
      let next = 0;
      let served = 0;
      const work = async () => {
        for (let index = next++; index < accountCount; index = next++) {
          // A tenth goes all the way: payments and webhooks cost the most.
          const use = index % 10 === 0 ? set.payOnce : set.createOnce;
          // On a busy machine a create may be answered 500; this test is not about that.
          await use(`shop${index}`).then(
            () => (served += 1),
            () => undefined,
          );
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      expect(served).toBeGreaterThan(accountCount * servedPartMin);
      const counts: Record<string, string> = {};
      for (const [index, service] of services.entries()) {
        const samples = samplesOf(await set.scrape(service));
        counts[service] = `${samplesOf(before[index] ?? "").length} → ${samples.length}`;
        expect(samples.length).toBeLessThan(seriesPerPodMax);
        expect(samples.filter((line) => unbounded.test(line))).toEqual([]);
      }
      process.stderr.write(`series per pod: ${JSON.stringify(counts)}\n`);
    },
    loadMsMax,
  );
});
