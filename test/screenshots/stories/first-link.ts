import type { Story } from "../scene.ts";
import { createAccount } from "../shop-actions.ts";

const handles = { phone: "rosehip", computer: "rosehip_tea" } as const;

/** The first sign-in of a new account, up to its first link. */
export const firstLinkStory: Story =
  async (shop) =>
  async ({ device, openTab, capture }) => {
    const account = { handle: handles[device], username: "Rosehip Tea" };
    const signInUrl = await createAccount(shop, account);
    const tab = await openTab();
    const { page } = tab;
    await tab.goTo(signInUrl);
    await tab.click("Sign in as Rosehip Tea", "Name your shop");
    const setup = await capture(tab, "Sign in");
    await page.getByRole("link", { name: "Add wallet" }).click();
    await tab.click("Add wallet");
    await page.getByLabel("Token").selectOption({ label: "USDC · Base" });
    await page.getByLabel("Address").fill("0x8617E340B3D01FA5F11F306F4090FD50E238070D");
    await tab.clickInDialog("Continue", "Check the address");
    const wallet = await capture(tab, "Add your wallet");
    await tab.clickInDialog("Add wallet", "Default on");
    await tab.goTo(`${shop.baseUrl}/console/links/new`, "Preview");
    await page.getByLabel("Amount").fill("18.5");
    await page.getByLabel("Description").fill("Spring harvest, 100 g");
    const form = await capture(tab, "Create a link");
    await tab.click("Create link", "in the console");
    const link = await capture(tab, "Send it");
    return { "first-link": [setup, wallet, form, link] };
  };
