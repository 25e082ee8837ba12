import { expect } from "@jest/globals";
import { call } from "../rig/client.ts";
import { findAxeViolations, findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

const start = async (deviceName: string) => {
  const { body } = await call(`${system.origin}/command/sign-ins`, {
    method: "POST",
    body: { deviceName },
  });
  return { userCode: String(body["userCode"]), deviceCode: String(body["deviceCode"]) };
};

const poll = async (deviceCode: string) => {
  const url = `${system.origin}/command/sign-ins/poll`;
  return (await call(url, { method: "POST", body: { deviceCode } })).body;
};

describe("the sign-in of a device", () => {
  test("shows the device of the entered code, and gives it a key with the chosen permissions (rule CALLER-47)", async () => {
    const viewport = { width: 320, height: 640 };
    const { goTo, tab } = await system.signUp("device_allow", { viewport });
    const { page } = tab;
    const { deviceCode, userCode } = await start("alices-laptop");
    await goTo("/command", "Enter the code that this command shows");
    await page.getByLabel("Code").fill("BCDF-GHJK");
    await tab.click("Continue", "The code is unknown or has expired.");
    await page.getByLabel("Code").fill(userCode.toLowerCase().replace("-", " "));
    await tab.click("Continue", "Sign in alices-laptop?");
    expect(await findAxeViolations(page)).toEqual([]);
    expect(await findLayoutFaults(page)).toEqual([]);
    await page.getByLabel("Create links").uncheck();
    await tab.click("Allow", "The device is signed in.");
    expect(await poll(deviceCode)).toEqual({
      status: "allowed",
      key: expect.stringMatching(/^plk_/),
      mode: "live",
      scopes: ["payment_link:read"],
    });
    await page.getByRole("link", { name: "View API keys" }).click();
    await page.getByText("alices-laptop").waitFor();
  });

  test("can be denied (rule CALLER-47)", async () => {
    const { goTo, tab } = await system.signUp("device_deny", { locale: "de-DE" });
    const { deviceCode, userCode } = await start("laptop");
    await goTo("/command", "Geben Sie den Code ein");
    await tab.page.getByLabel("Code").fill(userCode);
    await tab.click("Weiter", "laptop anmelden?");
    await tab.click("Ablehnen", "Die Anmeldung wurde abgelehnt.");
    expect((await poll(deviceCode))["status"]).toBe("denied");
  });
});
