import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type WatchedSet,
  openWatchedSet,
  watchedServices as services,
} from "./open-watched-set.ts";

/** Enough that every route, code and outcome has been met. */
const firstCount = 20;
/** Accounts that come after; a fourth of them is paid. */
const accountCount = 200;
const paidEvery = 4;
/** A label of each account, or of each one that is paid, would add fifty or more; a status met late adds a few. */
const growthMax = 40;
const atOnce = 4;
const servedPartMin = 0.9;
const seriesPerPodMax = 1_500;

/** Label names that would make the number of series grow with use. */
const unbounded = /[{,](?:account|user|user_id|merchant|link|link_id|key|url|host|tx|hash|error)="/;

const samplesOf = (scrape: string): string[] =>
  scrape.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

describe("a scrape of the four services", () => {
  let set: WatchedSet;
  beforeAll(async () => {
    set = await openWatchedSet();
    await set.payOnce("first");
    await set.waitForWebhooks(2);
  });
  afterAll(() => set?.close());

  /** Lets accounts make a link each, some of them to the end: payments and webhooks cost the most. */
  const serveAccounts = async (name: string, count: number, every: number) => {
    let next = 0;
    let served = 0;
    const work = async () => {
      for (let index = next++; index < count; index = next++) {
        // On a busy machine a create may be answered 500; this test is not about that.
        const use = index % every === 0 ? set.payOnce : set.createOnce;
        await use(`${name}${index}`).then(
          () => (served += 1),
          () => undefined,
        );
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expect(served).toBeGreaterThan(count * servedPartMin);
    return await Promise.all(services.map(async (one) => samplesOf(await set.scrape(one))));
  };

  test("has under 1,500 series per pod, none of them by account, and no more with more accounts", async () => {
    const first = await serveAccounts("first", firstCount, 1);
    const then = await serveAccounts("shop", accountCount, paidEvery);
    const counts: Record<string, string> = {};
    for (const [index, service] of services.entries()) {
      const [before, after] = [first[index] ?? [], then[index] ?? []];
      counts[service] = `${before.length} → ${after.length}`;
      expect(after.length).toBeLessThan(seriesPerPodMax);
      expect(after.length - before.length).toBeLessThanOrEqual(growthMax);
      expect(after.filter((line) => unbounded.test(line))).toEqual([]);
    }
    process.stderr.write(`series per pod: ${JSON.stringify(counts)}\n`);
  });
});
