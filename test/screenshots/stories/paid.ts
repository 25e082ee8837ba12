import { callConsole } from "../call-console.ts";
import type { Story } from "../scene.ts";
import { createLink, payOnChain } from "../shop-actions.ts";

/** A payment, from the open page to the receipt. */
export const paidStory: Story = async (shop) => {
  const body = { returnUrl: "https://tea-house.example/thanks" };
  await callConsole(shop, "account", { method: "PATCH", body });
  return async ({ openTab, capture }) => {
    const { id, url } = await createLink(shop, {
      // Local Solana has the shop's date.
      tokenId: "usdc-local-solana",
      toAmount: "25",
      description: "Two tins of sencha, order 1042",
    });
    const tab = await openTab();
    await tab.goTo(url, "Payment method");
    await tab.page.getByRole("radio", { name: "QR code" }).check();
    const open = await capture(tab, "Open the link");
    await payOnChain(shop, id);
    await tab.waitForText("Payment of 25 USDC detected.");
    const pending = await capture(tab, "Pay");
    await tab.waitForText("Payment complete");
    const paid = await capture(tab, "Return to the shop");
    await tab.page.getByRole("link", { name: "View receipt" }).click();
    await tab.waitForText("Payment settled");
    const receipt = await capture(tab, "Keep the receipt");
    return { paid: [open, pending, paid, receipt] };
  };
};
