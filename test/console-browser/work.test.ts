import { expect } from "@jest/globals";
import type {
  DeliveryData,
  LinkStory,
  Overview,
  OwnPaymentData,
} from "../../packages/console/app/api/operations.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findOverhang } from "../rig/open-console.ts";
import {
  addWallet,
  address,
  askConsole,
  expectForgotten,
  openForm,
  readSecret,
} from "../rig/console-work.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { openWallet } from "../rig/open-console-wallet.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { type ConsolePerson as Person, useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

/** The key of an account of "abandon … about". */
const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

const hostile = `<script>alert(1)</script> \u202egnp.exe ${"🙂".repeat(20)} ${"w".repeat(300)}`;

describe("a person with the console", () => {
  test("goes from a new account to a link that is shared, one made by two clicks", async () => {
    const person = await system.signUp("nina", { viewport: { width: 320, height: 640 } });
    const { faults, goTo, tab } = person;
    await goTo("");
    await tab.page.getByRole("link", { name: "Add a wallet" }).click();
    expect(await tab.page.getByLabel("Token").inputValue()).toBe("");
    await tab.page.getByLabel("Token").selectOption({ label: "USDC · Base" });
    await tab.see("This installation does not watch that chain");
    await tab.page.getByLabel("Address").fill("nina.eth");
    await tab.see("An address of this chain is 0x and 40 hexadecimal digits.");
    await tab.page.getByLabel("Address").fill(address);
    await tab.see("Setting up is not finished");
    await tab.click("Add wallet");
    await tab.see("Default on Base");
    await tab.page.getByText("Setting up is not finished").waitFor({ state: "detached" });
    await openForm(person, "1234.50");
    await tab.page.getByLabel("Description").fill(hostile);
    await tab.page.getByLabel("Expiry").selectOption("3");
    await tab.page.getByRole("button", { name: "Create the link" }).dblclick();
    await tab.see("Share it");
    expect(await tab.text()).toContain("1,234.5 USDC");
    expect(await tab.text()).toContain("<script>alert(1)</script>");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);
    const { data } = await askConsole(system, person, "payment-links");
    expect(data).toMatchObject([{ toAmount: "1234.5", description: hostile }]);
    await goTo("/links");
    await tab.see("1,234.5 USDC");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);
    expect(faults).toEqual([]);
  });

  test("adds a wallet on Bitcoin from the address on that it is advised, and may change that (rule CALLER-33)", async () => {
    const person = await system.signUp("satoshi", { viewport: { width: 320, height: 640 } });
    const { faults, goTo, tab } = person;
    await goTo("/account/wallets");
    await tab.page.getByLabel("Token").selectOption({ label: "BTC · Bitcoin" });
    await tab.see("Use a separate account of your wallet for the shop.");
    await tab.page.getByLabel("Address", { exact: true }).fill(zpub);
    // This installation watches no Bitcoin, so no node can tell.
    await tab.see("We couldn't check which addresses were used.");
    const index = tab.page.getByLabel("Number of the first address for links");
    expect(await index.inputValue()).toBe("5");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);
    await index.fill("7");
    await tab.click("Add wallet");
    await tab.see("wpkh(");
    expect((await askConsole(system, person, "wallets")).data).toMatchObject([
      { firstAddressIndex: 7 },
    ]);
    expect(faults).toEqual([]);
  });

  test("makes one link where the answer to the first click is lost", async () => {
    const person = await system.signUp("olga");
    const { context, tab } = person;
    await addWallet(person);
    await openForm(person, "5");
    await tab.page.getByLabel("Expiry").selectOption("3");
    let isLost = false;
    await context.route("**/console/api/payment-links", async (route) => {
      if (route.request().method() !== "POST" || isLost) return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await tab.click("Create the link");
    await tab.see("The server cannot be reached.");
    await tab.click("Create the link");
    await tab.see("Share it");
    expect((await askConsole(system, person, "payment-links")).data).toHaveLength(1);
  });
});

describe("a secret", () => {
  test("of a key stands in the page once, and nowhere in the browser afterwards", async () => {
    const person = await system.signUp("rosa");
    const { faults, goTo, tab } = person;
    await goTo("/keys");
    await tab.page.getByText("Restrict it further").click();
    await tab.page.getByLabel("Only from addresses or CIDRs").fill("203.0.113.0/24, 2001:db8::1");
    await tab.page.getByLabel("Requests a minute at most").fill("60");
    await tab.type("Create API key", "shop");
    await tab.page.getByRole("button", { name: "Create API key" }).dblclick();
    await tab.see("Your new API key");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    const secret = await readSecret(person);
    expect(secret).toMatch(/^plk_/);
    const close = tab.page.getByRole("dialog").getByRole("button", { name: "Close" });
    expect(await close.isDisabled()).toBe(true);
    await tab.page.keyboard.press("Escape");
    await tab.page.getByLabel("I have stored it").check();
    await close.click();
    await tab.see("60 requests a minute at most");
    expect((await askConsole(system, person, "api-keys")).data).toMatchObject([
      { cidrs: ["203.0.113.0/24", "2001:db8::1"], requestsPerMinute: 60, burst: null },
    ]);
    await expectForgotten(system, person, secret);
    await tab.page.reload();
    await tab.see("shop");
    await expectForgotten(system, person, secret);
    await goTo("");
    await tab.page.goBack();
    await tab.see("60 requests a minute at most");
    await expectForgotten(system, person, secret);
    expect(faults).toEqual([]);
  });

  test("of a webhook endpoint is shown once; it is renamed, disabled, enabled and deleted", async () => {
    const person = await system.signUp("tess");
    const { faults, goTo, tab } = person;
    await goTo("/webhooks");
    await tab.page.getByLabel("Name").fill("shop");
    await tab.page.getByLabel("Address").fill("http://shop.test/hook");
    await tab.click("Create endpoint");
    await tab.see("The URL must be a public https address without a port.");
    await tab.page.getByLabel("Address").fill("https://shop.com/hook");
    await tab.click("Create endpoint");
    await tab.see("The endpoint's signing secret");
    const secret = await readSecret(person);
    expect(secret).toMatch(/^whsec_/);
    await tab.page.getByLabel("I have stored it").check();
    await tab.click("Close");
    await expectForgotten(system, person, secret);
    await tab.page.reload();
    await tab.see("shop.com");
    await expectForgotten(system, person, secret);
    await tab.page.getByRole("link", { name: "shop" }).click();
    await tab.see("Nothing has been sent yet.");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    const url = tab.page.url();
    await tab.click("Rename");
    await tab.page.getByLabel("New name").fill("shop 2");
    await tab.page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await tab.see("shop 2");
    await tab.click("Disable");
    await tab.page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
    await tab.see("Disabled");
    await tab.click("Enable");
    await tab.see("Enabled");
    await tab.click("Delete");
    await tab.page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await tab.see("No endpoints yet.");
    await tab.goTo(url);
    await tab.see("This endpoint was deleted. Its log stays.");
    await tab.see("Nothing has been sent yet.");
    expect(faults).toEqual([]);
  });
});

describe("the account", () => {
  test("tells from when on another default wallet holds, and takes that back", async () => {
    const person = await system.signUp("vera");
    const { context, goTo, tab } = person;
    await addWallet(person);
    const sent: unknown[] = [];
    await context.route("**/console/api/wallets**", async (route) => {
      if (route.request().method() === "PATCH") {
        sent.push(route.request().postDataJSON());
        return route.fulfill({ json: {} });
      }
      const answer = await route.fetch();
      const { data } = await answer.json();
      const json = { data: [{ ...data[0], isDefault: false, defaultAt: "2026-11-22T10:00:00Z" }] };
      return route.fulfill({ response: answer, json });
    });
    await goTo("/account/wallets");
    await tab.see("Default from Nov 22, 2026");
    await tab.click("Cancel this change");
    await waitUntil("the change", () => sent.length > 0);
    expect(sent).toEqual([{ isDefault: false }]);
  });

  test("links an Ethereum address, unlinks it, and ends a session elsewhere", async () => {
    const { context, openTab } = await system.openPerson();
    const wallet = await openWallet(context);
    const tab = await openTab();
    await tab.goTo(await system.makeSignInUrl("wendy"));
    await tab.click("Sign in as wendy");
    await tab.see("Signed in as wendy");
    const elsewhere = await system.openPerson();
    const other = await elsewhere.openTab();
    await other.goTo(await system.makeNewUrl("wendy"));
    await other.click("Sign in as wendy");
    await other.see("Signed in as wendy");
    await tab.goTo(`${system.origin}/console/account/sign-in`);
    await tab.click("Link an Ethereum address");
    await tab.see(wallet.address);
    const unlink = tab.page.getByRole("button", { name: `Unlink: ${wallet.address}` });
    await unlink.click();
    await tab.see("This is the account's last way in");
    wallet.changeAccount();
    await tab.click("Link an Ethereum address");
    await tab.see(wallet.address);
    await unlink.click();
    await unlink.waitFor({ state: "detached" });
    await tab.goTo(`${system.origin}/console/account/sessions`);
    await tab.click("End");
    await tab.page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
    const answer = await elsewhere.context.request.get(`${system.origin}/console/api/account`);
    expect(answer.status()).toBe(401);
    expect((await context.request.get(`${system.origin}/console/api/account`)).status()).toBe(200);
  });

  test("reads its audit log by kind, and downloads it", async () => {
    const { context, goTo, tab } = await system.signUp("xena");
    const entry = {
      id: "aud_1",
      action: "account.of_tomorrow",
      actor: { kind: "service", id: null },
      method: null,
      targetId: null,
      detail: {},
      address: null,
      userAgent: null,
      dateCreated: now.toISOString(),
    };
    const asked: string[] = [];
    await context.route("**/console/api/audit-log?*", async (route) => {
      asked.push(route.request().url());
      const response = await route.fetch();
      const page = await response.json();
      await route.fulfill({ response, json: { ...page, data: [entry, ...page.data] } });
    });
    await goTo("/account/log");
    await tab.see("Sign-in link made");
    await tab.see("A signed-in person · Sign-in link");
    await tab.see("account.of_tomorrow");
    await tab.page.getByLabel("Kind of action").selectOption("Sessions");
    await tab.click("Show");
    await tab.page.getByText("Sign-in link made").waitFor({ state: "detached" });
    expect(tab.page.url()).toContain("action=session");
    const waiting = tab.page.waitForEvent("download");
    await tab.page.getByRole("button", { name: "Download as CSV" }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await waiting).createReadStream())
      chunks.push(chunk as Buffer);
    const csv = Buffer.concat(chunks).toString();
    expect(csv).toContain("session.started");
    expect(csv).not.toContain("sign_in_link.made");
    await tab.see("The file is complete.");
    const today = system.clock.now().toISOString().slice(0, 10);
    await tab.page.getByLabel("Until").fill(today);
    await tab.click("Show");
    await tab.page.waitForURL(`**/console/account/log?action=session&to=${today}`);
    const tomorrow = new Date(`${today}T00:00`);
    tomorrow.setDate(tomorrow.getDate() + 1);
    const wanted = `to=${encodeURIComponent(tomorrow.toISOString())}`;
    await waitUntil("that day whole", () => asked.at(-1)?.includes(wanted) === true);
    await tab.page.reload();
    await tab.see("Download as CSV");
    expect(await tab.page.getByLabel("Until").inputValue()).toBe(today);
    expect(await tab.page.getByLabel("Kind of action").inputValue()).toBe("session");
  });
});

const token = {
  address,
  decimals: 6,
  symbol: "USDC",
  name: "USD Coin",
  logo: null,
  isNative: false,
  isStablecoin: true,
  currencyCode: null,
  commodityCode: null,
  chain: { id: "8453", name: "Base", symbol: "ETH", chainType: "EVM", logo: "" },
  priceUsd: null,
  isVerified: null,
} as const;
const now = new Date();
const payment: OwnPaymentData = {
  id: "tx_1",
  status: "settled",
  applied: false,
  reason: "expired",
  amount: "2.5",
  tokenAddress: address,
  chainId: "8453",
  sourceTransaction: null,
  dateCreated: now.toISOString(),
  paymentLinkId: "plink_1",
};

/** No event travels in these tests: what came of payments is told in the services' place. */
const tell = async ({ context }: Pick<Person, "context">, path: string, json: object) =>
  context.route(`**/console/api/${path}`, (route) => route.fulfill({ json }));

describe("what became of payments", () => {
  test("stands in the overview: what came in by day, what does not count and why, how links stand", async () => {
    const person = await system.signUp("yara", { viewport: { width: 320, height: 640 } });
    const { faults, goTo, tab } = person;
    await addWallet(person);
    const count = { count: 3, hasMore: false };
    const overview: Overview = {
      received: [
        { day: now.toISOString().slice(0, 10), tokenId: "usdc", amount: "10.25", paymentCount: 4 },
      ],
      tokens: [{ id: "usdc", token }],
      links: { active: count, completed: count, inactive: { count: 10_000, hasMore: true } },
      unapplied: { count: 1, hasMore: false, payments: [payment] },
    };
    await tell(person, "overview?days=30", overview);
    await goTo("");
    await tab.see("10.25 USDC");
    await tab.see("after the expiry");
    await tab.see("more than 10000");
    await tab.page.getByText("The same as a table").click();
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);
    expect(faults).toEqual([]);
  });

  test("stands in a link's story, with what to do about money that does not count", async () => {
    const person = await system.signUp("zara");
    const { faults, tab } = person;
    await addWallet(person);
    await openForm(person, "9");
    const story: LinkStory = {
      data: [
        { kind: "created", at: now.toISOString(), by: { kind: "session", id: "s" }, payment: null },
        { kind: "payment_seen", at: now.toISOString(), by: null, payment },
        { kind: "payment_ended", at: null, by: null, payment },
      ],
      nextAfter: null,
    };
    await tell(person, "payment-links/*/story", story);
    await tab.click("Create the link");
    await tab.see("Payment settled, does not count");
    await tab.see("Talk to the payer, or refund it.");
    await tab.see("time not written down");
    await tab.see("No endpoint was told of it yet.");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("stands in an endpoint's log, by state and type, with the facts of each attempt", async () => {
    const person = await system.signUp("abby", { viewport: { width: 320, height: 640 } });
    const { context, faults, goTo, tab } = person;
    const delivery: DeliveryData = {
      id: "evt_1",
      eventType: "payment_link.completed",
      linkId: "plink_1",
      paymentId: null,
      status: "Failed",
      attempts: 6,
      httpStatus: 500,
      error: null,
      dateCreated: now.toISOString(),
      lastAttemptAt: now.toISOString(),
      nextAttemptAt: null,
    };
    const asked: string[] = [];
    await context.route("**/console/api/webhook-endpoints/whe_1/deliveries?*", (route) => {
      asked.push(new URL(route.request().url()).search);
      const page = { data: [delivery], limit: 10, offset: 0, nextOffset: null };
      return route.fulfill({ json: page });
    });
    const attempt = { startedAt: now.toISOString(), durationMs: 12, httpStatus: 500, error: null };
    await tell(person, "webhook-endpoints/whe_1/deliveries/evt_1", {
      ...delivery,
      attemptLog: [{ number: 1, ...attempt }],
    });
    await goTo("/webhooks/whe_1");
    await tab.see("payment_link.completed");
    await tab.page.getByLabel("State").selectOption("Failed");
    await tab.page.getByLabel("Event").selectOption("payment_link.completed");
    await tab.page.waitForURL(/eventType/);
    await tab.click("Attempts in detail: evt_1");
    await tab.see("took 12 ms");
    expect(asked.at(-1)).toContain("status=Failed&eventType=payment_link.completed");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);
    expect(faults).toEqual([]);
  });
});
