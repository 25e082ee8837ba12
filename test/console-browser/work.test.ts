import { createHmac } from "node:crypto";
import { expect } from "@jest/globals";
import { getAddress } from "viem";
import type {
  DeliveryData,
  LinkStory,
  Overview,
  OwnPaymentData,
} from "../../packages/console/app/api/operations.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findSecret } from "../rig/find-secret.ts";
import { findOverhang } from "../rig/open-console.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { openWallet } from "../rig/open-console-wallet.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { type ConsolePerson as Person, useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

const address = getAddress("0xa0cf798816d4b9b9866b5330eea46a18382f251e");
const hostile = `<script>alert(1)</script> \u202egnp.exe ${"🙂".repeat(20)} ${"w".repeat(300)}`;

/** What the console API answers this person. */
const ask = async ({ context }: Person, path: string): Promise<{ data: object[] }> =>
  (await context.request.get(`${system.origin}/console/api/${path}`)).json();

const addWallet = async ({ goTo, tab }: Person): Promise<void> => {
  await goTo("/account/wallets");
  await tab.page.getByLabel("Token").selectOption({ label: "USDC · Base" });
  await tab.page.getByLabel("Address").fill(address);
  await tab.click("Add wallet");
  await tab.see(address);
};

const openForm = async (person: Person, amount: string): Promise<void> => {
  await person.goTo("/links/new");
  await person.tab.page.getByLabel("Amount").fill(amount);
};

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
    const { data } = await ask(person, "payment-links");
    expect(data).toMatchObject([{ toAmount: "1234.5", description: hostile }]);
    await goTo("/links");
    await tab.see("1,234.5 USDC");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);
    expect(faults).toEqual([]);
  });

  test("skips the steps of the set-up for good, sees that some are open, and brings them back", async () => {
    const { faults, goTo, tab } = await system.signUp("mona");
    await goTo("");
    await tab.click("Hide the steps");
    await tab.see("4 steps of the set-up are open.");
    await tab.page.reload();
    await tab.see("4 steps of the set-up are open.");
    expect(await tab.text()).not.toContain("Add a wallet: links are paid straight to it.");
    await tab.see("Setting up is not finished");
    await tab.click("Show the steps");
    await tab.see("Add a wallet: links are paid straight to it.");
    await tab.page.reload();
    await tab.see("Add a wallet: links are paid straight to it.");
    expect(await tab.page.evaluate("localStorage.length")).toBe(0);
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
    expect((await ask(person, "payment-links")).data).toHaveLength(1);
  });

  test("duplicates a link, filters the list, and takes a link back after being asked", async () => {
    const person = await system.signUp("pia");
    const { goTo, tab } = person;
    await addWallet(person);
    await openForm(person, "7.25");
    await tab.page.getByLabel("Description").fill("Tea");
    await tab.page.getByLabel("Payments at most").fill("3");
    await tab.click("Create the link");
    await tab.see("Share it");
    await tab.page.getByRole("link", { name: "Duplicate" }).click();
    await tab.see("New payment link");
    expect(await tab.page.getByLabel("Amount").inputValue()).toBe("7.25");
    expect(await tab.page.getByLabel("Payments at most").inputValue()).toBe("3");
    await tab.click("Create the link");
    await tab.see("Share it");
    await tab.click("Deactivate");
    await tab.see("Take no more payments?");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    await tab.page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).click();
    await tab.see("Inactive");
    await goTo("/links");
    await tab.page.getByLabel("State").selectOption("inactive");
    await tab.click("Show");
    await tab.page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
    expect(await tab.page.locator("tbody tr").count()).toBe(1);
    expect(tab.page.url()).toContain("status=inactive");
  });

  test("sees an amount that is none, and a date that is over, before anything is sent", async () => {
    const person = await system.signUp("quinn");
    const { tab } = person;
    await addWallet(person);
    await openForm(person, "1,5");
    await tab.click("Create the link");
    await tab.see("An amount above 0, in digits");
    await tab.page.getByLabel("Amount").fill("1.5");
    await tab.page.getByLabel("Expiry").selectOption("date");
    await tab.page.getByLabel("Date and time").fill("2020-01-01T00:00");
    await tab.click("Create the link");
    await tab.see("The expiry must be in the future.");
    expect((await ask(person, "payment-links")).data).toEqual([]);
  });
});

/** The secret that a dialog shows: in the page alone, and there once. */
const readSecret = async (person: Person): Promise<string> => {
  const secret = await person.tab.page.getByRole("dialog").locator("code").innerText();
  expect(await findSecret(person, secret)).toEqual({ page: 1 });
  return secret;
};

/** Nothing that this browser or a service keeps has it any more. */
const expectForgotten = async (person: Person, secret: string): Promise<void> => {
  expect(await findSecret(person, secret)).toEqual({});
  const logs = system.logLines();
  expect(logs.length).toBeGreaterThan(0);
  expect(logs.filter((line) => line.includes(secret))).toEqual([]);
};

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
    expect((await ask(person, "api-keys")).data).toMatchObject([
      { cidrs: ["203.0.113.0/24", "2001:db8::1"], requestsPerMinute: 60, burst: null },
    ]);
    await expectForgotten(person, secret);
    await tab.page.reload();
    await tab.see("shop");
    await expectForgotten(person, secret);
    await goTo("");
    await tab.page.goBack();
    await tab.see("60 requests a minute at most");
    await expectForgotten(person, secret);
    expect(faults).toEqual([]);
  });

  test("of a rotated key is shown once as well; keys are limited, switched off and revoked", async () => {
    const person = await system.signUp("sara");
    const { goTo, tab } = person;
    await goTo("/keys");
    await tab.type("Create API key", "old");
    await tab.click("Create API key");
    await tab.page.getByLabel("I have stored it").check();
    await tab.click("Close");
    await tab.click("Change the limits: old");
    await tab.page.getByRole("dialog").getByLabel("At once at most").fill("5");
    await tab.click("Save");
    await tab.see("5 at once at most");
    await tab.click("Deactivate: old");
    await tab.see("Switched off");
    await tab.click("Activate: old");
    await tab.click("Rotate: old");
    await tab.click("Rotate");
    await tab.see("Your new API key");
    const secret = await readSecret(person);
    await tab.page.getByLabel("I have stored it").check();
    await tab.click("Close");
    await expectForgotten(person, secret);
    await tab.see("Replaced");
    expect((await ask(person, "api-keys")).data).toHaveLength(2);
    await tab.page.locator("tr", { hasText: "Replaced" }).getByText("Revoke").click();
    await tab.see("Revoke old?");
    await tab.page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await tab.page.getByText("Replaced").waitFor({ state: "detached" });
    expect((await ask(person, "api-keys")).data).toHaveLength(1);
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
    await expectForgotten(person, secret);
    await tab.page.reload();
    await tab.see("shop.com");
    await expectForgotten(person, secret);
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
  test("shows what a payer will see while it is typed, and saves only what was touched", async () => {
    const person = await system.signUp("uma");
    const { context, faults, goTo, tab } = person;
    const sent: unknown[] = [];
    await context.route("**/console/api/account", (route) => {
      if (route.request().method() === "PATCH") sent.push(route.request().postDataJSON());
      return route.continue();
    });
    await goTo("/account/profile");
    await tab.page.getByLabel("About you").fill("Tea & more");
    await tab.page.getByLabel("No colour of your own").uncheck();
    await tab.see("Tea & more");
    await tab.click("Save the profile");
    await tab.see("Saved.");
    expect(sent).toEqual([{ bio: "Tea & more", backgroundColour: "#1f4fd8" }]);
    expect(faults).toEqual([]);
  });

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

  test("has a way to check a signature, in four languages and in the page", async () => {
    const person = await system.signUp("bess");
    const { goTo, tab } = person;
    await goTo("/webhooks");
    for (const [language, word] of [
      ["Python", "hmac.compare_digest"],
      ["PHP", "hash_equals"],
      ["Go", "hmac.Equal"],
      ["Node.js", "timingSafeEqual"],
    ] as const) {
      await tab.page.getByLabel("Language").selectOption(language);
      await tab.see(word);
      expect(await tab.text()).toMatch(/service-signature/i);
    }
    const timestamp = String(Math.floor(Date.now() / 1000));
    const mac = createHmac("sha256", "whsec_x").update(`${timestamp}.{}`).digest("hex");
    await tab.page.getByText("Check one here").first().click();
    await tab.page.getByLabel("Secret").fill("whsec_x");
    await tab.page.getByLabel("Header Service-Timestamp").fill(timestamp);
    await tab.page.getByLabel("Header Service-Signature").fill(`v1=${mac}`);
    await tab.page.getByLabel("Body, exactly as it came").fill("{}");
    await tab.click("Check one here");
    await tab.see("The signature is genuine.");
    await tab.page.getByLabel("Body, exactly as it came").fill("{} ");
    await tab.click("Check one here");
    await tab.see("The signature is not of this secret, timestamp and body.");
  });
});
