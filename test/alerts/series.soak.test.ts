import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type MonitoredSystem,
  startMonitoredSystem,
  monitoredServices as services,
} from "./start-monitored-system.ts";

/** Enough accounts to cover every route, status code and result. */
const firstCount = 20;
/** The number of accounts created after that. Every fourth account receives a payment. */
const accountCount = 200;
const paidEvery = 4;
/**
 * The maximum growth. A label per account or per paid account would add at least 50 series. A
 * status code that occurs for the first time adds only a few.
 */
const growthMax = 40;
const concurrency = 4;
const servedRatioMin = 0.9;
const seriesPerPodMax = 1_500;

/** Label names that would make the number of series grow with usage. */
const unboundedLabels =
  /[{,](?:account|user|user_id|merchant|link|link_id|key|url|host|tx|hash|error)="/;

const listSamples = (scrape: string): string[] =>
  scrape.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

describe("a scrape of the four services", () => {
  let system: MonitoredSystem;
  beforeAll(async () => {
    system = await startMonitoredSystem();
    await system.payOnce("first");
    await system.waitForWebhooks(2);
  });
  afterAll(() => system?.close());

  /**
   * Creates accounts that each create a link. Also pays some of the links, because payments and
   * webhooks take the most time.
   */
  const serveAccounts = async (name: string, count: number, paidInterval: number) => {
    let nextIndex = 0;
    let servedCount = 0;
    const runWorker = async () => {
      for (let index = nextIndex++; index < count; index = nextIndex++) {
        // On a busy machine, creating a link can fail with 500. This test ignores these failures.
        const serveAccount = index % paidInterval === 0 ? system.payOnce : system.createOnce;
        await serveAccount(`${name}${index}`).then(
          () => (servedCount += 1),
          () => undefined,
        );
      }
    };
    await Promise.all(Array.from({ length: concurrency }, runWorker));
    expect(servedCount).toBeGreaterThan(count * servedRatioMin);
    return await Promise.all(
      services.map(async (service) => listSamples(await system.scrape(service))),
    );
  };

  test("has under 1,500 series per pod, no label per account, and no growth with more accounts", async () => {
    const firstSamples = await serveAccounts("first", firstCount, 1);
    const laterSamples = await serveAccounts("shop", accountCount, paidEvery);
    const counts: Record<string, string> = {};
    for (const [index, service] of services.entries()) {
      const [seriesBefore, seriesAfter] = [firstSamples[index] ?? [], laterSamples[index] ?? []];
      counts[service] = `${seriesBefore.length} → ${seriesAfter.length}`;
      expect(seriesAfter.length).toBeLessThan(seriesPerPodMax);
      expect(seriesAfter.length - seriesBefore.length).toBeLessThanOrEqual(growthMax);
      expect(seriesAfter.filter((line) => unboundedLabels.test(line))).toEqual([]);
    }
    process.stderr.write(`series per pod: ${JSON.stringify(counts)}\n`);
  });
});
