import { afterEach, expect } from "@jest/globals";
import { getAddress } from "viem";
import { type ConsoleUser, useConsole } from "../rig/use-console.ts";
import { walletAddress } from "../rig/create-console.ts";
import { findAxeViolations, findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";

const { describe, describeSoak, test } = requireChromium();

const system = useConsole();
afterEach(() => system.queryLinksDatabase("DELETE FROM links_api.deposits"));

/** Signs up a user who can be paid, with a link of 25 USDC. */
const createShop = async (name: string, isGerman = false): Promise<ConsoleUser> => {
  const locale = isGerman ? "de-DE" : "en-US";
  const user = await system.signUp(name, { viewport: { width: 320, height: 640 }, locale });
  await user.addDefaultWallet();
  const description = "<b>Order</b> \u202e7 ".repeat(5);
  await user.call("post", "payment-links", { toAmount: "25", description });
  return user;
};

/**
 * Inserts deposits to the newest link's owner as if the listener had published them, because
 * these services do not consume events.
 */
const insertDeposits = async (
  amounts: readonly string[],
  /** The default is the link's token. */
  tokenAddress?: string,
): Promise<void> => {
  const { rows } = await system.queryLinksDatabase(
    "SELECT user_id, chain_id, token_address, created_at FROM links_api.links ORDER BY seq DESC LIMIT 1",
  );
  const [link] = rows;
  for (const [index, amount] of amounts.entries()) {
    await system.queryLinksDatabase(
      `INSERT INTO links_api.deposits (id, user_id, version, status, amount, token_address, chain_id,
         destination_address, payer, source_transaction, occurred_at, first_seen_at)
       VALUES ($1, $2, 2, 'settled', $3, $4, $5, $6, $7, $8, $9, $9)`,
      [
        `dep_${String(index).padStart(26, "0")}`,
        link.user_id,
        amount,
        tokenAddress ?? link.token_address,
        link.chain_id,
        walletAddress,
        getAddress(`0x${"ab".repeat(20)}`),
        `0x${"cd".repeat(32)}`,
        new Date(link.created_at.getTime() + (amounts.length - index) * 60_000),
      ],
    );
  }
};

describe("a deposit", () => {
  test("is listed in the overview and can be assigned to a likely link or dismissed", async () => {
    const { goTo, tab } = await createShop("doris");
    await insertDeposits(["25", "3.5"]);
    await goTo("", "Unmatched payments: 2");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.page.getByRole("link", { name: "Review" }).click();
    await tab.waitForText("Transfers to your address that don't belong to a link");
    await tab.waitForText("3.5 USDC");
    expect(await findLayoutFaults(tab.page)).toEqual([]);

    await tab.page.getByRole("button", { name: "Assign…" }).first().click();
    await tab.waitForText("Assign 25 USDC to a link");
    await tab.waitForText("exact remaining amount");
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    await tab.page.getByRole("radio").check();
    await tab.click("Assign to this link");
    await tab.page.getByText("Assign 25 USDC to a link").waitFor({ state: "detached" });
    await tab.page.getByRole("button", { name: "Assign…" }).click();
    await tab.page.getByLabel("Link ID").fill("plink_00000000000000000000000000");
    await tab.click("Assign to this link");
    await tab.waitForText("This page doesn't exist, or it belongs to another account.");
    await tab.click("Cancel");
    await tab.click("Dismiss", "Dismiss this payment?");
    await tab.page.getByRole("dialog").getByRole("button", { name: "Dismiss" }).click();
    await tab.waitForText("Transfers without a link will appear here.");
    await tab.page.getByRole("link", { name: "Assigned" }).click();
    await tab.page.getByRole("link", { name: "View link" }).click();
    await tab.waitForText("Payment succeeded");
    const { rows } = await system.queryLinksDatabase(
      "SELECT status, received_amount FROM links_api.links ORDER BY seq DESC LIMIT 1",
    );
    expect(rows).toEqual([{ status: "completed", received_amount: "25" }]);
  });

  test.each([
    ["wilma", false, "Wrong token: this is not USDC.", "Assign…", "Dismiss"],
    ["dieter", true, "Falscher Token: Das ist kein USDC.", "Zuordnen…", "Verwerfen"],
  ])(
    "in a look-alike of USDC is shown as a wrong token and can only be dismissed (rule CHAIN-27): %s",
    async (name, isGerman, expectedText, assignLabel, dismissLabel) => {
      const { goTo, tab } = await createShop(name, isGerman);
      await insertDeposits(["25"], "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA");
      await goTo("/deposits", "25 USDbC");
      await tab.waitForText(expectedText);
      expect(await tab.page.getByRole("button", { name: assignLabel }).count()).toBe(0);
      expect(await tab.page.getByRole("button", { name: dismissLabel }).count()).toBe(1);
      expect(await findLayoutFaults(tab.page)).toEqual([]);
    },
  );
});

describeSoak("a deposit", () => {
  test("is shown in German to a user with a German browser", async () => {
    const { goTo, tab } = await createShop("egon", true);
    await insertDeposits(["7"]);
    await goTo("/deposits", "Nicht zugeordnete Zahlungen");
    await tab.page.getByRole("button", { name: "Zuordnen…" }).click();
    await tab.waitForText("am Vortag erstellt");
    expect(await findLayoutFaults(tab.page)).toEqual([]);
  });
});
