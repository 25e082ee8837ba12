import { expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { Sighting } from "../domain/payment.ts";
import { hearLink } from "../testing/hear-link.ts";
import { openRig } from "../testing/open-rig.ts";
import { readEvents } from "../testing/read-rows.ts";
import { sampleLink, sampleSighting } from "../testing/samples.ts";
import { recordSighting } from "./record-sighting.ts";
import { republishPayments } from "./republish-payments.ts";

const rig = useRig(openRig);

const path = "/internal/republish/settlements";

const record = (sighting: Sighting) =>
  transact(rig.pool, (tx) =>
    recordSighting(tx, sighting, { now: rig.clock.now(), tokenDecimals: 6 }),
  );

test("tells every payment again as it stands, in the order in which they came, and no parked one (rule EVENT-5)", async () => {
  const link = sampleLink();
  await transact(rig.pool, (tx) => hearLink(rig.clock)(tx, { link }));
  const first = sampleSighting({ paymentLinkId: link.id, status: "processing" });
  const second = sampleSighting({ paymentLinkId: link.id });
  const parked = sampleSighting();
  for (const sighting of [first, parked, second, { ...first, status: "settled" as const }]) {
    await record(sighting);
  }
  const live = await readEvents(rig.pool, link.id);
  expect(live.map(({ type, data }) => [type, data.version])).toEqual([
    ["settlement.processing", 1],
    ["settlement.settled", 1],
    ["settlement.settled", 2],
  ]);
  const asked = await fetch(`${rig.internalUrl}${path}`, { method: "POST" });
  expect(asked.status).toBe(202);
  await rig.republish(republishPayments);
  expect((await readEvents(rig.pool, link.id)).slice(live.length)).toMatchObject([
    { ...live[2] },
    { ...live[1] },
  ]);
  expect(await readEvents(rig.pool, parked.paymentLinkId)).toEqual([]);
  const told = await (await fetch(`${rig.internalUrl}${path}`)).json();
  expect(told).toMatchObject({ publishedCount: 2, endedAt: rig.clock.now().toISOString() });
});
