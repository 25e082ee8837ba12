import { createMerchant } from "../../rig/client.ts";
import { focusByTab } from "../../rig/walk-by-keyboard.ts";
import { callConsole } from "../call-console.ts";
import type { Story } from "../scene.ts";
import { createSignInUrl } from "../shop-actions.ts";

/** A new link without a mouse. Each frame shows the focus. */
export const keyboardStory: Story = async (shop) => {
  const { baseUrl } = shop;
  const handle = "north_books";
  const { cookie } = await createMerchant(shop, handle);
  const profile = { username: "North Books" };
  await callConsole({ baseUrl, cookie }, "account", { method: "PATCH", body: profile });
  return async ({ openTab, capture }) => {
    const tab = await openTab({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page } = tab;
    await tab.goTo(await createSignInUrl(shop, handle));
    await focusByTab(page.getByRole("button", { name: "Sign in as North Books" }));
    const signIn = await capture(tab, "Sign in");
    await page.keyboard.press("Enter");
    await tab.waitForText("Webhook endpoint");
    await focusByTab(page.getByRole("link", { name: "New link" }).first());
    const overview = await capture(tab, "Open the form");
    await page.keyboard.press("Enter");
    await focusByTab(page.getByLabel("Amount"));
    await page.keyboard.type("42");
    await focusByTab(page.getByLabel("Description"));
    await page.keyboard.type("Atlas of rivers");
    await focusByTab(page.getByRole("button", { name: "Create link" }));
    const form = await capture(tab, "Create the link");
    await page.keyboard.press("Enter");
    await tab.waitForText("in the console");
    await focusByTab(page.getByRole("button", { name: "Copy link" }));
    await page.keyboard.press("Enter");
    await tab.waitForText("Copied");
    return { keyboard: [signIn, overview, form, await capture(tab, "Copy it")] };
  };
};
