import { waitUntil } from "@payment-links/runtime/testing";
import { callConsole } from "../call-console.ts";
import type { Shop } from "../create-shop.ts";
import type { Story } from "../scene.ts";
import { createLink, reportPayment } from "../shop-actions.ts";

/** An endpoint responds with 500. The owner finds it, and sees the request and the response. */
export const failingEndpointStory: Story = async (shop) => {
  await createFailingEndpoint(shop);
  return async ({ openTab, capture }) => {
    const tab = await openTab({ cookie: shop.cookie });
    const { page } = tab;
    await tab.goTo(`${shop.baseUrl}/console`, "Webhook endpoint Accounting");
    await tab.waitForText("Recent payments");
    const overview = await capture(tab, "See the failure");
    await tab.goTo(`${shop.baseUrl}/console/webhooks`, "failures in a row");
    const endpoints = await capture(tab, "Compare endpoints");
    await page.getByRole("link", { name: "Accounting" }).first().click();
    const entries = page.getByRole("list", { name: "Delivery log" }).getByRole("link");
    await entries.filter({ hasText: "500" }).first().waitFor();
    const log = await capture(tab, "Open the log");
    await entries.filter({ hasText: "500" }).first().click();
    await tab.waitForText("Response bodies aren't stored.");
    const delivery = await capture(tab, "Read the request");
    return { "failing-endpoint": [overview, endpoints, log, delivery] };
  };
};

const createFailingEndpoint = async (shop: Shop): Promise<void> => {
  const body = { name: "Accounting", url: "https://tea-house.example/accounting" };
  await callConsole(shop, "webhook-endpoints", { body });
  const isFailing = (path: string) => path === "/accounting";
  shop.receiver.setResponder(({ path }) => (isFailing(path) ? 500 : 204));
  for (const amount of ["42", "17.5"]) await createPaidOrder(shop, amount);
  const countFailures = () => shop.receiver.received.filter(({ path }) => isFailing(path)).length;
  // Each link has an event for its payment and one for its completion.
  await waitUntil("the endpoint has failed", () => countFailures() >= 4);
};

const createPaidOrder = async (shop: Shop, toAmount: string): Promise<void> => {
  const description = "Green tea, 250 g";
  const { id } = await createLink(shop, { tokenId: "usdc-base", toAmount, description });
  await reportPayment(shop, { id: `order-${id}`, paymentLinkId: id, amount: toAmount });
};
