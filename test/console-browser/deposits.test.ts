import { expect } from "@jest/globals";
import { measureOverflow } from "../rig/create-console.ts";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useDeposits } from "../rig/use-deposits.ts";

const { describe, test } = requireChromium();

const { createShop, insertDeposits, runQuery } = useDeposits();

describe("a deposit", () => {
  test("is listed in the overview and can be assigned to a likely link or dismissed", async () => {
    const user = await createShop("doris");
    await insertDeposits(["25", "3.5"]);
    const { violations, goTo, tab } = user;
    await goTo("");
    await tab.waitForText("Unmatched payments: 2");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.page.getByRole("link", { name: "Review" }).click();
    await tab.waitForText("Transfers to your address that don't belong to a link");
    await tab.waitForText("3.5 USDC");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    expect(await measureOverflow(tab)).toBe(0);

    await tab.page.getByRole("button", { name: "Assign…" }).first().click();
    await tab.waitForText("Assign 25 USDC to a link");
    await tab.waitForText("exact remaining amount");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    expect(await measureOverflow(tab)).toBe(0);
    await tab.page.getByRole("radio").check();
    await tab.click("Assign to this link");
    await tab.page.getByText("Assign 25 USDC to a link").waitFor({ state: "detached" });
    await tab.page.getByRole("button", { name: "Assign…" }).click();
    await tab.page.getByLabel("Link ID").fill("plink_00000000000000000000000000");
    await tab.click("Assign to this link");
    await tab.waitForText("This page doesn't exist, or it belongs to another account.");
    await tab.click("Cancel");
    await tab.click("Dismiss");
    await tab.waitForText("Dismiss this payment?");
    await tab.page.getByRole("dialog").getByRole("button", { name: "Dismiss" }).click();
    await tab.waitForText("Transfers without a link will appear here.");
    await tab.page.getByLabel("Status").selectOption("assigned");
    await tab.page.getByRole("link", { name: "View link" }).click();
    await tab.waitForText("Payments");
    const { rows } = await runQuery(
      "SELECT status, received_amount FROM links_api.links ORDER BY seq DESC LIMIT 1",
    );
    expect(rows).toEqual([{ status: "completed", received_amount: "25" }]);
    // The test itself causes one 404 response.
    expect(violations.filter((violation) => !violation.includes("404"))).toEqual([]);
  });

  test.each([
    ["wilma", false, "Wrong token: this is not USDC.", "Assign…", "Dismiss"],
    ["dieter", true, "Falscher Token: Das ist kein USDC.", "Zuordnen…", "Verwerfen"],
  ])(
    "in a look-alike of USDC is shown as a wrong token and can only be dismissed (rule CHAIN-27): %s",
    async (name, isGerman, expectedText, assignLabel, dismissLabel) => {
      const { violations, goTo, tab } = await createShop(name, isGerman);
      await insertDeposits(["25"], "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA");
      await goTo("/deposits");
      await tab.waitForText("25 USDbC");
      await tab.waitForText(expectedText);
      expect(await tab.page.getByRole("button", { name: assignLabel }).count()).toBe(0);
      expect(await tab.page.getByRole("button", { name: dismissLabel }).count()).toBe(1);
      expect(await findAxeViolations(tab.page)).toEqual([]);
      expect(await measureOverflow(tab)).toBe(0);
      expect(violations).toEqual([]);
    },
  );
});
