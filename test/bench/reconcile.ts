import { Client } from "pg";
import { type PaymentLinks, createClient } from "../../packages/sdk/src/create-client.ts";
import { systemRuntime } from "../../packages/sdk/src/runtime.ts";
import { copyRow } from "./copy-links.ts";
import { type Bench, compare, median, print, takeTurns } from "./harness.ts";
import { startLinkServers } from "./link-servers.ts";
import { createLink } from "./load.ts";

const linkCount = 10_000;
const changedCount = 50;
const roundCount = 5;

type Run = { callCount: number; ms: number };

/**
 * Measures how long an integrator takes to find 50 changed links among 10,000 with `updatedAfter`,
 * in milliseconds. The baseline pages through the whole list. Both use the SDK.
 */
export const benchReconcile: Bench = async (onEnd) => {
  const { adminUrl, merchant, ours } = await startLinkServers(onEnd);
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  onEnd(() => admin.end());
  const { id } = await createLink(ours.baseUrl, merchant.apiKey, { toAmount: "25.5" });
  const overrides = {
    id: "'plink_7' || lpad(n::text, 25, '0')",
    created_at: "created_at - n * interval '1 minute'",
    // The changed links are spread over the list.
    updated_at: `CASE WHEN n % ${linkCount / changedCount} = 0 THEN updated_at ELSE updated_at - interval '1 day' END`,
    payment_reference: "md5(id || n)",
  };
  await copyRow(admin, "links_api.links", { id, where: "id = $1", overrides }, linkCount);
  await admin.query("VACUUM ANALYZE links_api.links");
  const since = new Date(Date.now() - 60 * 60_000);

  let callCount = 0;
  const countingFetch: typeof fetch = (...fetchArguments) => {
    callCount += 1;
    return fetch(...fetchArguments);
  };
  const settings = { url: ours.baseUrl, apiKey: merchant.apiKey, fetch: countingFetch };
  const client = createClient(settings, systemRuntime);
  const measure = async (
    listLinks: (client: PaymentLinks) => AsyncIterable<unknown>,
    count: number,
  ) => {
    callCount = 0;
    const startedAt = performance.now();
    let foundCount = 0;
    for await (const link of listLinks(client)) if (link !== undefined) foundCount += 1;
    // The link that was copied has changed too.
    if (foundCount !== count + 1) throw new Error(`found ${foundCount} links`);
    return { callCount, ms: performance.now() - startedAt };
  };
  const runs = await takeTurns<"floor" | "ours", Run>(
    roundCount,
    {
      floor: () => measure((paymentLinks) => paymentLinks.eachPaymentLink(), linkCount),
      ours: () =>
        measure((paymentLinks) => paymentLinks.reconcilePaymentLinks({ since }), changedCount),
    },
    ({ callCount, ms }) => `${callCount} calls, ${ms.toFixed(0)} ms`,
  );
  const [ours50, floorAll] = [runs.ours, runs.floor].map((list) => list[0]?.callCount ?? 0);
  print(`calls: ${ours50} instead of ${floorAll}`);
  return compare(median(runs.ours.map(({ ms }) => ms)), median(runs.floor.map(({ ms }) => ms)));
};
