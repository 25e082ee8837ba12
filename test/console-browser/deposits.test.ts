import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { Client } from "pg";
import { getAddress } from "viem";
import { findOverhang } from "../rig/open-console.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { type ConsolePerson as Person, useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();
let database: Client;
beforeAll(async () => {
  database = new Client({ connectionString: system.adminUrlOf("links-api") });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
});
afterEach(() => database.query("DELETE FROM links_api.deposits"));

const address = getAddress("0xa0cf798816d4b9b9866b5330eea46a18382f251e");
const description = "<b>Order</b> \u202e7 ".repeat(5);

/** Somebody who can be paid, with a link of 25 USDC. */
const openShop = async (name: string, german = false): Promise<Person> => {
  const words = { signIn: `Als ${name} anmelden`, signedIn: `Angemeldet als ${name}` };
  const person = await system.signUp(name, {
    viewport: { width: 320, height: 640 },
    ...(german ? { locale: "de-DE", words } : {}),
  });
  const post = async (path: string, data: object): Promise<void> => {
    const answer = await person.context.request.post(`${system.origin}/console/api/${path}`, {
      data,
      headers: { origin: system.origin },
    });
    expect([path, answer.ok()]).toEqual([path, true]);
  };
  await post("wallets", { walletAddress: address, tokenId: "usdc-base" });
  await post("payment-links", { toAmount: "25", description });
  return person;
};

/** The listener has told of deposits to the newest link's owner: none of these services hears. */
const giveDeposits = async (amounts: readonly string[]): Promise<void> => {
  const { rows } = await database.query(
    "SELECT user_id, chain_id, token_address, created_at FROM links_api.links ORDER BY seq DESC LIMIT 1",
  );
  const [link] = rows;
  for (const [index, amount] of amounts.entries()) {
    await database.query(
      `INSERT INTO links_api.deposits (id, user_id, version, status, amount, token_address, chain_id,
         destination_address, payer, source_transaction, occurred_at, first_seen_at)
       VALUES ($1, $2, 2, 'settled', $3, $4, $5, $6, $7, $8, $9, $9)`,
      [
        `dep_${String(index).padStart(26, "0")}`,
        link.user_id,
        amount,
        link.token_address,
        link.chain_id,
        address,
        getAddress(`0x${"ab".repeat(20)}`),
        `0x${"cd".repeat(32)}`,
        new Date(link.created_at.getTime() + (amounts.length - index) * 60_000),
      ],
    );
  }
};

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
    const { rows } = await database.query(
      "SELECT status, received_amount FROM links_api.links ORDER BY seq DESC LIMIT 1",
    );
    expect(rows).toEqual([{ status: "completed", received_amount: "25" }]);
    // The one refusal that was asked for.
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
  });

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
