import { expect } from "@jest/globals";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

describe("a slip of the hand changes nothing:", () => {
  test("pressing Enter twice does not revoke an API key", async () => {
    const { goTo, tab } = await system.signUp("slip_erna");
    await goTo("/keys");
    await tab.click("Create API key");
    await tab.type("Create API key", "till");
    await tab.clickInDialog("Create API key");
    await tab.page.getByLabel("I have saved it").check();
    await tab.click("Close");
    await tab.page.getByRole("button", { name: "Actions: till" }).click();
    // The menu moves the focus to its first entry.
    await tab.page.getByRole("menuitem").and(tab.page.locator(":focus")).waitFor();
    await tab.page.getByRole("menuitem", { name: "Revoke" }).focus();
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("dialog").waitFor();
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("dialog").waitFor({ state: "detached" });
    await tab.page.getByRole("button", { name: "Actions: till" }).waitFor();
  });

  test("an amount with a currency sign and a thousands separator is understood and shown before it is used", async () => {
    const { addDefaultWallet, goTo, tab } = await system.signUp("slip_gisa");
    await addDefaultWallet();
    await goTo("/links/new");
    await tab.page.getByLabel("Amount").fill("$1,000");
    await tab.waitForText("The payer pays exactly 1,000 USDC.");
    await tab.click("Create link", "Share");
    expect(await tab.readText()).toContain("1,000.00 USDC");
  });
});

test("an error of the service is shown at its field, which gets the focus", async () => {
  await system.createSignInUrl("slip_taken");
  const { goTo, tab } = await system.signUp("slip_fritz");
  await goTo("/account/profile");
  const handle = tab.page.getByLabel("Handle");
  await handle.fill("slip_taken");
  await tab.click("Save profile");
  await tab.waitForText("The handle belongs to another account.");
  expect(await tab.page.evaluate("document.activeElement.name")).toBe("handle");
  // The same value can be sent again.
  const secondResponse = tab.page.waitForResponse("**/console/api/account");
  await tab.click("Save profile");
  expect((await secondResponse).status()).toBe(409);
  await handle.locator("..").getByText("The handle belongs to another account.").waitFor();
});

describe("the console stays usable:", () => {
  test("a view that cannot be loaded offline leaves the console in place, and loads when it is online again", async () => {
    const { context, goTo, tab } = await system.signUp("slip_olaf");
    await goTo("");
    await tab.waitForText("Finish setup");
    await context.setOffline(true);
    await tab.page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await tab.waitForText("Something went wrong");
    await tab.click("Reload page");
    expect(await tab.readText()).toContain("Signed in as slip_olaf");
    await context.setOffline(false);
    await tab.waitForText("Your webhook endpoints will appear here.");
  });

  test("a sign-in link works when it is pasted into a tab that shows the sign-in page", async () => {
    const url = await system.createSignInUrl("slip_paula");
    const tab = await (await system.createUser()).openTab();
    await tab.goTo(`${system.origin}/console`);
    await tab.waitForText("Sign in to Payment Links");
    await tab.page.evaluate(`location.href = ${JSON.stringify(url)}`);
    await tab.click("Sign in as slip_paula", "Add a passkey");
    await tab.click("Not now", "Signed in as slip_paula");
  });

  test.each(["/links/unknown", "/webhooks/unknown"])(
    "%s has a heading and no accessibility violations",
    async (path) => {
      const { goTo, tab } = await system.signUp(`slip_una${path.length}`);
      await goTo(path);
      await tab.page.getByRole("heading", { level: 1 }).waitFor();
      await tab.waitForText("exist");
      expect(await findAxeViolations(tab.page)).toEqual([]);
    },
  );
});
