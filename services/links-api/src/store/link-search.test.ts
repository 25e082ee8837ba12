import { beforeAll, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { explainQueries, countScannedRows, listScans } from "../testing/explain-queries.ts";
import { createRig } from "../testing/create-rig.ts";
import { insertLinkCopies, sampleAccount } from "../testing/samples.ts";
import { type LinkQuery, scannedLinksMax, searchLinks } from "./link-search.ts";

// With fewer links, the planner would prefer a sequential scan.
const linkCount = 60_000;

const rig = useRig(createRig);
let userId: string;
beforeAll(async () => {
  const account = sampleAccount();
  userId = account.id;
  const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
  await insertLinkCopies(rig.pool, id, { count: linkCount, description: "tea" });
  await rig.analyzeLinks();
});

type SearchFilter = Omit<LinkQuery, "userId" | "mode" | "now">;

const afterNow = (ms: number) => new Date(rig.clock.now().getTime() + ms);

const rareFilters: [string, () => SearchFilter][] = [
  ["text that no link contains", () => ({ search: { text: "needle" } })],
  ["a token that no link has", () => ({ tokenId: "none" })],
  ["a status that no link has", () => ({ status: "inactive", from: afterNow(0) })],
  ["text in completed links", () => ({ status: "completed", search: { text: "tea" } })],
  ["text in links before a time", () => ({ search: { text: "needle" }, to: afterNow(9_000) })],
  [
    "a token that no link has, after a position",
    () => ({ tokenId: "none", before: { createdAt: afterNow(9_000), seq: "0" } }),
  ],
];
const directFilters: [string, () => SearchFilter][] = [
  ["text that all links contain", () => ({ search: { text: "TEA" } })],
  ["a link's id", () => ({ search: { linkId: "plink_x" } })],
  ["a payment reference", () => ({ search: { paymentReference: "00" } })],
  ["a time range in the middle", () => ({ from: afterNow(1_000), to: afterNow(9_000) })],
  ["completed links after a time", () => ({ status: "completed", from: afterNow(1_000) })],
  ["links after a position", () => ({ before: { createdAt: afterNow(9_000), seq: "0" } })],
];

// Guards other accounts from waiting for connections, because a filter can match only a few links
// or none.
describe("with 60,000 links", () => {
  const countScanned = async (filter: SearchFilter) => {
    const query = {
      ...filter,
      userId,
      mode: "live" as const,
      now: rig.clock.now(),
      limit: 11,
      offset: 0,
    };
    const scans = listScans(await explainQueries(rig.pool, (db) => searchLinks(db, query)));
    expect(scans.map((scan) => scan["Node Type"])).not.toContain("Seq Scan");
    return countScannedRows(scans);
  };

  test.each(rareFilters)(
    "a search for %s scans 5,000 links at most twice",
    async (_name, filter) => {
      expect(await countScanned(filter())).toBeLessThanOrEqual(2 * scannedLinksMax + 10);
    },
  );

  test.each(directFilters)(
    "a search for %s scans only for its end and the links that it returns",
    async (_name, filter) => {
      expect(await countScanned(filter())).toBeLessThanOrEqual(scannedLinksMax + 40);
    },
  );
});
