import { waitUntil } from "@payment-links/runtime/testing";
import { callConsole } from "../call-console.ts";
import type { Shop } from "../create-shop.ts";
import type { Story } from "../scene.ts";
import { createLink, reportPayment } from "../shop-actions.ts";

/** A customer pays too much, and then a second time. The owner finds and refunds that payment. */
export const attentionStory: Story = async (shop) => {
  await createOverpaidLink(shop);
  return async ({ openTab, capture }) => {
    const tab = await openTab({ cookie: shop.cookie });
    const { page } = tab;
    await tab.goTo(`${shop.baseUrl}/console`, "Payments not applied to their link: 1");
    await tab.waitForText("Recent payments");
    const overview = await capture(tab, "See what is wrong");
    await page.getByText("Payments not applied to their link: 1").click();
    await page.getByRole("link", { name: "View link", exact: true }).waitFor();
    const payments = await capture(tab, "Find the payment");
    await page.getByRole("link", { name: "View link", exact: true }).click();
    await tab.waitForText("Payment not applied");
    const link = await capture(tab, "See what happened");
    await page.getByRole("button", { name: "Refund…" }).first().click();
    await page.getByRole("dialog").getByLabel("Amount").waitFor();
    const refund = await capture(tab, "Refund it");
    return { attention: [overview, payments, link, refund] };
  };
};

const createOverpaidLink = async (shop: Shop): Promise<void> => {
  const description = "Teapot, order 1043";
  const { id } = await createLink(shop, { tokenId: "usdc-base", toAmount: "30", description });
  const listPayments = async () => {
    const path = `payment-links/${id}/payments`;
    return (await callConsole(shop, path, { method: "GET" }))["data"] as unknown[];
  };
  for (const [index, amount] of ["35.5", "30"].entries()) {
    await reportPayment(shop, { id: `overpayment-${index}`, paymentLinkId: id, amount });
    await waitUntil("it is stored", async () => (await listPayments()).length === index + 1);
  }
};
