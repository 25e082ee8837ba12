import { expect } from "@jest/globals";
import { findOverhang } from "../rig/open-console.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useDeposits } from "../rig/use-deposits.ts";

const { describe, test } = needingChromium();

const { openShop, giveDeposits, query } = useDeposits();

describe("money without a link", () => {
  test("stands in the overview, is assigned to a likely link, or dismissed", async () => {
    const person = await openShop("doris");
    await giveDeposits(["25", "3.5"]);
    const { faults, goTo, tab } = person;
    await goTo("");
    await tab.see("Deposits that wait for your decision: 2.");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    await tab.page.getByRole("link", { name: "Decide on them" }).click();
    await tab.see("This reached your address and names no link");
    await tab.see("3.5 USDC");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);

    await tab.page.getByRole("button", { name: "Assign…" }).first().click();
    await tab.see("Which link were 25 USDC for?");
    await tab.see("just this is missing");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);
    await tab.page.getByRole("radio").check();
    await tab.click("Assign to this link");
    await tab.page.getByText("Which link were 25 USDC for?").waitFor({ state: "detached" });
    await tab.page.getByRole("button", { name: "Assign…" }).click();
    await tab.page.getByLabel("The link's id").fill("plink_00000000000000000000000000");
    await tab.click("Assign to this link");
    await tab.see("There is nothing at this address, or it belongs to another account.");
    await tab.click("Cancel");
    await tab.click("Dismiss");
    await tab.see("Was this for no link?");
    await tab.page.getByRole("dialog").getByRole("button", { name: "Dismiss" }).click();
    await tab.see("Nothing. What comes without naming a link will stand here.");
    await tab.page.getByLabel("Which").selectOption("assigned");
    await tab.page.getByRole("link", { name: "Its link" }).click();
    await tab.see("Payments");
    const { rows } = await query(
      "SELECT status, received_amount FROM links_api.links ORDER BY seq DESC LIMIT 1",
    );
    expect(rows).toEqual([{ status: "completed", received_amount: "25" }]);
    // The one refusal that was asked for.
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
  });

  test.each([
    ["wilma", false, "Wrong token: this is not USDC.", "Assign…", "Dismiss"],
    ["dieter", true, "Falscher Token: Das ist kein USDC.", "Zuordnen…", "Beiseitelegen"],
  ])(
    "in a look-alike of USDC is called a wrong token, and can only be dismissed (rule CHAIN-27): %s",
    async (name, isGerman, words, assign, dismiss) => {
      const { faults, goTo, tab } = await openShop(name, isGerman);
      await giveDeposits(["25"], "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA");
      await goTo("/deposits");
      await tab.see("25 USDbC");
      await tab.see(words);
      expect(await tab.page.getByRole("button", { name: assign }).count()).toBe(0);
      expect(await tab.page.getByRole("button", { name: dismiss }).count()).toBe(1);
      expect(await findAxeFaults(tab.page)).toEqual([]);
      expect(await findOverhang(tab)).toBe(0);
      expect(faults).toEqual([]);
    },
  );
});
