import { expect } from "@jest/globals";
import { findOverhang } from "../rig/open-console.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useDeposits } from "../rig/use-deposits.ts";

const { describe, test } = needingChromium();

const { openShop, giveDeposits } = useDeposits();

describe("money without a link", () => {
  test("speaks German to whoever reads it", async () => {
    const { faults, goTo, tab } = await openShop("egon", true);
    await giveDeposits(["7"]);
    await goTo("/deposits");
    await tab.see("Geld ohne Link");
    await tab.page.getByRole("button", { name: "Zuordnen…" }).click();
    await tab.see("am Tag davor angelegt");
    expect(await findOverhang(tab)).toBe(0);
    expect(faults).toEqual([]);
  });
});
