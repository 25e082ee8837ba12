import { beforeAll, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { explain, rowsLookedAt, scansOf } from "../testing/explain.ts";
import { openRig } from "../testing/open-rig.ts";
import { copyLink, sampleAccount } from "../testing/samples.ts";
import { type WantedLinks, lookedAtMax, searchLinks } from "./link-search.ts";

// Of fewer links it would be cheaper to read all.
const linkCount = 60_000;

const rig = useRig(openRig);
let userId: string;
beforeAll(async () => {
  const account = sampleAccount();
  userId = account.id;
  const id = await rig.createLink(rig.giveKey(account), { toAmount: "1" });
  await copyLink(rig.pool, id, { count: linkCount, description: "tea" });
  await rig.analyzeLinks();
});

type Filter = Omit<WantedLinks, "userId" | "now">;

const later = (ms: number) => new Date(rig.clock.now().getTime() + ms);

const rare: [string, () => Filter][] = [
  ["a text that no link has", () => ({ search: { text: "needle" } })],
  ["a token that no link has", () => ({ tokenId: "none" })],
  ["a status that no link has", () => ({ status: "inactive", from: later(0) })],
  ["a text among completed links", () => ({ status: "completed", search: { text: "tea" } })],
  ["a text before a time", () => ({ search: { text: "needle" }, to: later(9_000) })],
  [
    "a text behind a place",
    () => ({ tokenId: "none", before: { createdAt: later(9_000), seq: "0" } }),
  ],
];
const direct: [string, () => Filter][] = [
  ["a text that all have", () => ({ search: { text: "TEA" } })],
  ["a link's id", () => ({ search: { linkId: "plink_x" } })],
  ["a payment reference", () => ({ search: { paymentReference: "00" } })],
  ["a time in the middle", () => ({ from: later(1_000), to: later(9_000) })],
  ["completed links of a time", () => ({ status: "completed", from: later(1_000) })],
  ["what is behind a place", () => ({ before: { createdAt: later(9_000), seq: "0" } })],
];

// Guards everybody else's connections: a filter may want what is rare, or what nobody has.
describe("among 60,000 links,", () => {
  const scans = async (filter: Filter) => {
    const wanted = { ...filter, userId, now: rig.clock.now(), limit: 11, offset: 0 };
    const read = scansOf(await explain(rig.pool, (db) => searchLinks(db, wanted)));
    expect(read.map((scan) => scan["Node Type"])).not.toContain("Seq Scan");
    return rowsLookedAt(read);
  };

  test.each(rare)(
    "a search for %s looks at 5,000 links twice, and no more",
    async (_name, filter) => {
      expect(await scans(filter())).toBeLessThanOrEqual(2 * lookedAtMax + 10);
    },
  );

  test.each(direct)(
    "a search for %s looks for its end, and at what it shows",
    async (_name, filter) => {
      expect(await scans(filter())).toBeLessThanOrEqual(lookedAtMax + 40);
    },
  );
});
