import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { projectRoot } from "../rig/child.ts";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { type ConsoleUser, useConsole } from "../rig/use-console.ts";

const { describe, describeSoak, test } = requireChromium();

const system = useConsole();

const samplesDirectory = join(projectRoot, "packages/console/app/pages/developers/samples");

const readSample = (name: string): Promise<string> =>
  readFile(join(samplesDirectory, name), "utf8");

/** Returns the code in the card with the given heading, in the given language. */
const selectSample = async (
  { tab: { page } }: ConsoleUser,
  heading: string,
  language: string,
): Promise<string | null> => {
  const card = page
    .locator("section")
    .filter({ has: page.getByRole("heading", { name: heading, exact: true }) });
  await card.getByRole("radio", { name: language }).check();
  return card.getByRole("region", { name: language }).textContent();
};

describe("the developers page", () => {
  test("shows code that creates a link at this installation's URL, and copies it", async () => {
    const user = await system.signUp("dev_links", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const { goTo, tab } = user;
    await goTo("/developers", "Check a signature");
    for (const [language, file] of [
      ["Node.js", "create-link.mjs"],
      ["Python", "create_link.py"],
      ["PHP", "create_link.php"],
      ["curl", "create-link.sh"],
    ] as const) {
      const sample = await readSample(file);
      expect(await selectSample(user, "Create a payment link", language)).toBe(
        sample.replaceAll("https://pay.example.com", system.origin),
      );
    }
    await tab.stopClock();
    await tab.click("Copy code");
    await tab.page.getByText("Copied", { exact: true }).waitFor();
    const request = await readSample("create-link.sh");
    await tab.waitForCopiedText(request.replaceAll("https://pay.example.com", system.origin));
  });

  test("is reached from the API keys and webhooks, and fits into 320 px", async () => {
    const { goTo, tab } = await system.signUp("dev_phone", {
      viewport: { width: 320, height: 640 },
    });
    await goTo("/keys");
    await tab.page.getByRole("link", { name: "View code samples" }).click();
    await tab.waitForText("Create a payment link");
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    await goTo("/webhooks");
    await tab.page.getByRole("link", { name: "Verify signatures" }).click();
    await tab.page.getByRole("heading", { name: "Verify signatures" }).waitFor();
    expect(tab.page.url()).toContain("/developers#webhooks");
  });
});

describeSoak("the developers page", () => {
  test("shows the four tested samples that verify a webhook, and checks a signature (rule HOOK-20)", async () => {
    const user = await system.signUp("bess");
    const { goTo, tab } = user;
    await goTo("/developers", "Check a signature");
    for (const [language, file] of [
      ["Python", "read_webhook.py"],
      ["PHP", "read_webhook.php"],
      ["Go", "read_webhook.go"],
      ["Node.js", "read-webhook.mjs"],
    ] as const)
      expect(await selectSample(user, "Verify signatures", language)).toBe(await readSample(file));
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", "whsec_x").update(`${timestamp}.{}`).digest("hex");
    await tab.page.getByLabel("Secret").fill("whsec_x");
    await tab.page.getByLabel("Header Service-Timestamp").fill(timestamp);
    await tab.page.getByLabel("Header Service-Signature").fill(`v1=${signature}`);
    await tab.page.getByLabel("Raw body").fill("{}");
    await tab.click("Check signature", "The signature is valid.");
    await tab.page.getByLabel("Raw body").fill("{} ");
    await tab.click("Check signature");
    await tab.waitForText("The signature doesn't match this secret, timestamp and body.");
  });
});
