import { waitUntil } from "@payment-links/runtime/testing";
import type { Checkout, Payer } from "./open-checkout.ts";

/** Opens the link's page; answers how often it was loaded anew since then. */
export const openPage = async (payer: Payer): Promise<() => number> => {
  await payer.goTo(payer.link.pageUrl);
  let count = 0;
  payer.page.on("framenavigated", () => (count += 1));
  return () => count;
};

/** How many pages follow their link by a stream. */
export const countStreams = async (rig: Checkout): Promise<number> => {
  const { metrics } = rig.system.links.ground;
  const found = await metrics.getSingleMetric("payment_links_event_streams")?.get();
  return found?.values[0]?.value ?? 0;
};
export const untilStreams = (rig: Checkout, wanted: number): Promise<true> =>
  waitUntil(`${wanted} streams`, async () => (await countStreams(rig)) === wanted);

/** Somebody in front of a link that has expired, with a payment in time still on its way. */
export const openExpired = async (rig: Checkout): Promise<Payer> => {
  const expirationDate = new Date(Date.now() + 8_000).toISOString();
  const payer = await rig.openPayer({ toAmount: "25", expirationDate });
  await rig.chain.pay({ ...payer.link, amount: 25_000_000n });
  await rig.system.showWhen(
    payer.link.id,
    ({ status, payments }) => status === "inactive" && payments.length === 1,
  );
  return payer;
};
