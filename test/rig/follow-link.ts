import { waitUntil } from "@payment-links/runtime/testing";
import type { Checkout, Payer } from "./create-checkout.ts";

/** Opens the link's page. Returns a function that returns the number of page loads since then. */
export const openLinkPage = async (payer: Payer): Promise<() => number> => {
  await payer.goTo(payer.link.pageUrl);
  let loadCount = 0;
  payer.page.on("framenavigated", () => (loadCount += 1));
  return () => loadCount;
};

/** Returns the number of pages that follow their link through an event stream. */
export const countStreams = async (rig: Checkout): Promise<number> => {
  const { metrics } = rig.system.links.context;
  const metric = await metrics.getSingleMetric("payment_links_event_streams")?.get();
  return metric?.values[0]?.value ?? 0;
};
export const waitForStreams = (rig: Checkout, expectedCount: number): Promise<true> =>
  waitUntil(
    `${expectedCount} streams are open`,
    async () => (await countStreams(rig)) === expectedCount,
  );

/**
 * Opens the page of an expired link. The link has a payment that was on time and is still in
 * progress.
 */
export const openExpiredLink = async (rig: Checkout): Promise<Payer> => {
  const expirationDate = new Date(Date.now() + 8_000).toISOString();
  const payer = await rig.createPayer({ toAmount: "25", expirationDate });
  await rig.chain.pay({ ...payer.link, amount: 25_000_000n });
  await rig.system.waitForLink(
    payer.link.id,
    ({ status, payments }) => status === "inactive" && payments.length === 1,
  );
  return payer;
};
