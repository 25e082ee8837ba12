import { expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { PaymentReport } from "../domain/payment.ts";
import { receiveLink } from "../testing/receive-link.ts";
import { createRig } from "../testing/create-rig.ts";
import { readEvents } from "../testing/read-rows.ts";
import { sampleLink, samplePaymentReport } from "../testing/samples.ts";
import { recordPaymentReport } from "./record-payment-report.ts";
import { paymentRepublishSource } from "./payment-republish-source.ts";

const rig = useRig(createRig);

const path = "/internal/republish/settlements";

const recordReport = (report: PaymentReport) =>
  transact(rig.pool, (tx) =>
    recordPaymentReport(tx, report, { now: rig.clock.now(), tokenDecimals: 6 }),
  );

test("republishes the current state of every payment in order of arrival, and no deferred one (rule EVENT-5)", async () => {
  const link = sampleLink();
  await transact(rig.pool, (tx) => receiveLink(rig.clock)(tx, { link }));
  const firstReport = samplePaymentReport({ paymentLinkId: link.id, status: "processing" });
  const secondReport = samplePaymentReport({ paymentLinkId: link.id });
  const deferredReport = samplePaymentReport();
  for (const report of [
    firstReport,
    deferredReport,
    secondReport,
    { ...firstReport, status: "settled" as const },
  ]) {
    await recordReport(report);
  }
  const liveEvents = await readEvents(rig.pool, link.id);
  expect(liveEvents.map(({ type, data }) => [type, data.version])).toEqual([
    ["settlement.processing", 1],
    ["settlement.settled", 1],
    ["settlement.settled", 2],
  ]);
  const republishResponse = await fetch(`${rig.internalUrl}${path}`, { method: "POST" });
  expect(republishResponse.status).toBe(202);
  await rig.republish(paymentRepublishSource);
  expect((await readEvents(rig.pool, link.id)).slice(liveEvents.length)).toMatchObject([
    { ...liveEvents[2] },
    { ...liveEvents[1] },
  ]);
  expect(await readEvents(rig.pool, deferredReport.paymentLinkId)).toEqual([]);
  const republishStatus = await (await fetch(`${rig.internalUrl}${path}`)).json();
  expect(republishStatus).toMatchObject({
    publishedCount: 2,
    endedAt: rig.clock.now().toISOString(),
  });
});
