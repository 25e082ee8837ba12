import { expect } from "@jest/globals";
import { measureOverflow } from "../rig/create-console.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useDeposits } from "../rig/use-deposits.ts";

const { describe, test } = requireChromium();

const { createShop, insertDeposits } = useDeposits();

describe("a deposit", () => {
  test("is shown in German to a user with a German browser", async () => {
    const { violations, goTo, tab } = await createShop("egon", true);
    await insertDeposits(["7"]);
    await goTo("/deposits");
    await tab.waitForText("Nicht zugeordnete Zahlungen");
    await tab.page.getByRole("button", { name: "Zuordnen…" }).click();
    await tab.waitForText("am Vortag erstellt");
    expect(await measureOverflow(tab)).toBe(0);
    expect(violations).toEqual([]);
  });
});
