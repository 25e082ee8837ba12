import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { projectRoot } from "../rig/child.ts";
import {
  addWallet,
  fetchConsole,
  expectSecretGone,
  openLinkForm,
  readSecret,
} from "../rig/console-work.ts";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();
const samplesDirectory = join(projectRoot, "packages/console/app/pages/webhooks/samples");

describe("a user of the console", () => {
  test("hides the setup steps permanently, sees that some are open, and shows them again", async () => {
    const { violations, goTo, tab } = await system.signUp("mona");
    await goTo("");
    await tab.click("Hide steps");
    await tab.waitForText("4 setup steps left");
    await tab.page.reload();
    await tab.waitForText("4 setup steps left");
    expect(await tab.readText()).not.toContain("Add a wallet. Payments go straight to it.");
    await tab.waitForText("Finish setup");
    await tab.click("Show steps");
    await tab.waitForText("Add a wallet. Payments go straight to it.");
    await tab.page.reload();
    await tab.waitForText("Add a wallet. Payments go straight to it.");
    expect(await tab.page.evaluate("localStorage.length")).toBe(0);
    expect(violations).toEqual([]);
  });

  test("duplicates a link, filters the list, and deactivates a link after confirming", async () => {
    const user = await system.signUp("pia");
    const { goTo, tab } = user;
    await addWallet(user);
    await openLinkForm(user, "7.25");
    await tab.page.getByLabel("Description").fill("Tea");
    await tab.page.getByLabel("Payment limit").fill("3");
    await tab.click("Create link");
    await tab.waitForText("Share");
    await tab.page.getByRole("link", { name: "Duplicate" }).click();
    await tab.waitForText("Create payment link");
    expect(await tab.page.getByLabel("Amount").inputValue()).toBe("7.25");
    expect(await tab.page.getByLabel("Payment limit").inputValue()).toBe("3");
    await tab.click("Create link");
    await tab.waitForText("Share");
    await tab.click("Deactivate");
    await tab.waitForText("Deactivate this link?");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).click();
    await tab.waitForText("Inactive");
    await goTo("/links");
    await tab.page.getByLabel("Status").selectOption("inactive");
    await tab.click("Apply");
    await tab.page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
    expect(await tab.page.locator("tbody tr").count()).toBe(1);
    expect(tab.page.url()).toContain("status=inactive");
  });

  test("sees an invalid amount and a past date before anything is sent", async () => {
    const user = await system.signUp("quinn");
    const { tab } = user;
    await addWallet(user);
    await openLinkForm(user, "1,5");
    await tab.click("Create link");
    await tab.waitForText("Enter an amount above 0");
    await tab.page.getByLabel("Amount").fill("1.5");
    await tab.page.getByLabel("Expiry").selectOption("date");
    await tab.page.getByLabel("Date and time").fill("2020-01-01T00:00");
    await tab.click("Create link");
    await tab.waitForText("The expiry must be in the future.");
    expect((await fetchConsole(system, user, "payment-links")).data).toEqual([]);
  });
});

describe("a secret", () => {
  test("of a rotated key is also shown once; keys can be limited, deactivated and revoked", async () => {
    const user = await system.signUp("sara");
    const { goTo, tab } = user;
    await goTo("/keys");
    await tab.type("Create API key", "old");
    await tab.click("Create API key");
    await tab.page.getByLabel("I have saved it").check();
    await tab.click("Close");
    await tab.click("Edit limits: old");
    await tab.page.getByRole("dialog").getByLabel("Burst").fill("5");
    await tab.click("Save");
    await tab.waitForText("burst of 5");
    await tab.click("Deactivate: old");
    await tab.waitForText("Inactive");
    await tab.click("Activate: old");
    await tab.click("Rotate: old");
    await tab.click("Rotate");
    await tab.waitForText("Your new API key");
    const secret = await readSecret(user);
    await tab.page.getByLabel("I have saved it").check();
    await tab.click("Close");
    await expectSecretGone(system, user, secret);
    await tab.waitForText("Replaced");
    expect((await fetchConsole(system, user, "api-keys")).data).toHaveLength(2);
    await tab.page.locator("tr", { hasText: "Replaced" }).getByText("Revoke").click();
    await tab.waitForText("Revoke old?");
    await tab.page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await tab.page.getByText("Replaced").waitFor({ state: "detached" });
    expect((await fetchConsole(system, user, "api-keys")).data).toHaveLength(1);
  });
});

describe("the account", () => {
  test("previews the payer's view while typing and saves only changed fields", async () => {
    const user = await system.signUp("uma");
    const { context, violations, goTo, tab } = user;
    const patchBodies: unknown[] = [];
    await context.route("**/console/api/account", (route) => {
      if (route.request().method() === "PATCH") patchBodies.push(route.request().postDataJSON());
      return route.continue();
    });
    await goTo("/account/profile");
    await tab.page.getByLabel("About you").fill("Tea & more");
    await tab.page.getByLabel("No custom color").uncheck();
    await tab.waitForText("Tea & more");
    await tab.click("Save profile");
    await tab.waitForText("Saved");
    expect(patchBodies).toEqual([{ bio: "Tea & more", backgroundColour: "#1f4fd8" }]);
    expect(violations).toEqual([]);
  });
});

describe("payment results", () => {
  test("include instructions for checking a signature, in the four tested samples and on the page (rule HOOK-20)", async () => {
    const user = await system.signUp("bess");
    const { goTo, tab } = user;
    await goTo("/webhooks");
    for (const [language, file] of [
      ["Python", "read_webhook.py"],
      ["PHP", "read_webhook.php"],
      ["Go", "read_webhook.go"],
      ["Node.js", "read-webhook.mjs"],
    ] as const) {
      await tab.page.getByLabel("Language").selectOption(language);
      const sampleRegion = tab.page.getByRole("region", { name: language });
      expect(await sampleRegion.textContent()).toBe(
        await readFile(join(samplesDirectory, file), "utf8"),
      );
    }
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", "whsec_x").update(`${timestamp}.{}`).digest("hex");
    await tab.page.getByText("Verify one here").first().click();
    await tab.page.getByLabel("Secret").fill("whsec_x");
    await tab.page.getByLabel("Header Service-Timestamp").fill(timestamp);
    await tab.page.getByLabel("Header Service-Signature").fill(`v1=${signature}`);
    await tab.page.getByLabel("Raw body").fill("{}");
    await tab.click("Verify one here");
    await tab.waitForText("The signature is valid.");
    await tab.page.getByLabel("Raw body").fill("{} ");
    await tab.click("Verify one here");
    await tab.waitForText("The signature doesn't match this secret, timestamp and body.");
  });
});
