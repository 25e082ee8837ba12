import { expect } from "@jest/globals";
import { countSecretOccurrences } from "../rig/find-secret.ts";
import { type ConsoleUser, useConsole } from "../rig/use-console.ts";
import type { LinkStory, OwnPaymentData } from "../../packages/console/app/api/operations.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { walletAddress } from "../rig/create-console.ts";
import { findAxeViolations, findLayoutFaults } from "../rig/find-axe-violations.ts";
import { createConsoleWallet } from "../rig/console-wallet.ts";
import { requireChromium } from "../rig/require-chromium.ts";

const { describe, describeSoak, test } = requireChromium();

const system = useConsole();

/** The account key of the mnemonic "abandon … about". */
const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

const hostileText = `<script>alert(1)</script> \u202egnp.exe ${"🙂".repeat(20)} ${"w".repeat(300)}`;

const openLinkForm = async (user: ConsoleUser, amount: string): Promise<void> => {
  await user.goTo("/links/new");
  await user.tab.page.getByLabel("Amount").fill(amount);
};

/**
 * Returns the secret that a dialog shows. Expects it exactly once in the page and nowhere else in
 * the browser.
 */
const readSecret = async (user: ConsoleUser): Promise<string> => {
  const secret = await user.tab.page.getByRole("dialog").locator("code").innerText();
  expect(await countSecretOccurrences(user, secret)).toEqual({ page: 1 });
  return secret;
};

/** Expects that neither this browser nor a service has stored the secret. */
const expectSecretGone = async (user: ConsoleUser, secret: string): Promise<void> => {
  expect(await countSecretOccurrences(user, secret)).toEqual({});
  const logs = system.logLines();
  expect(logs.length).toBeGreaterThan(0);
  expect(logs.filter((line) => line.includes(secret))).toEqual([]);
};

describe("a user of the console", () => {
  test("gets from a new account to a shared link, and a double click creates only one link", async () => {
    const user = await system.signUp("nina", { viewport: { width: 320, height: 640 } });
    const { goTo, tab } = user;
    await goTo("");
    await tab.page.getByRole("link", { name: "Add wallet" }).click();
    await tab.click("Add wallet");
    expect(await tab.page.getByLabel("Token").inputValue()).toBe("");
    await tab.page.getByLabel("Token").selectOption({ label: "USDC · Base" });
    await tab.waitForText("This network isn't supported on payment pages");
    await tab.page.getByLabel("Address", { exact: true }).fill("nina.eth");
    await tab.waitForText("Enter 0x followed by 40 hexadecimal digits.");
    await tab.page.getByLabel("Address", { exact: true }).fill(walletAddress);
    await tab.clickInDialog("Continue", "Check the address");
    const dialog = tab.page.getByRole("dialog");
    expect(await dialog.textContent()).toContain(walletAddress);
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    expect((await user.call("get", "wallets")).data).toEqual([]);
    expect(await tab.page.getByText("Finish setup").count()).toBe(1);
    await tab.clickInDialog("Add wallet", "Default on Base");
    await tab.page.getByText("Finish setup").waitFor({ state: "detached" });
    await openLinkForm(user, "1234.50");
    await tab.page.getByLabel("Description").fill(hostileText);
    await tab.page.getByText("More options").click();
    await tab.page.getByLabel("Expiry").selectOption("3");
    await tab.page.getByRole("button", { name: "Create link" }).dblclick();
    await tab.waitForText("Share");
    expect(await tab.readText()).toContain("1,234.50 USDC");
    expect(await tab.readText()).toContain("<script>alert(1)</script>");
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    const { data } = await user.call("get", "payment-links");
    expect(data).toMatchObject([{ toAmount: "1234.5", description: hostileText }]);
    await goTo("/links", "1,234.50 USDC");
    expect(await findLayoutFaults(tab.page)).toEqual([]);
  });

  test("adds a Bitcoin wallet starting at the suggested address index, which can be changed (rule CALLER-33)", async () => {
    const user = await system.signUp("satoshi", { viewport: { width: 320, height: 640 } });
    const { goTo, tab } = user;
    await goTo("/account/wallets");
    await tab.click("Add wallet");
    await tab.page.getByLabel("Token").selectOption({ label: "BTC · Bitcoin" });
    await tab.waitForText("Use a separate account of your wallet for the shop.");
    await tab.page.getByLabel("Address", { exact: true }).fill(zpub);
    // This installation does not watch Bitcoin, so there is no node to query.
    await tab.waitForText("We couldn't check which addresses are used.");
    const indexInput = tab.page.getByLabel("First address number for links");
    expect(await indexInput.inputValue()).toBe("5");
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    await indexInput.fill("7");
    await tab.clickInDialog("Continue", "Check the address");
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    await tab.clickInDialog("Add wallet", "wpkh(");
    expect((await user.call("get", "wallets")).data).toMatchObject([{ firstAddressIndex: 7 }]);
  });

  test("sees at a key which fields of a program's latest request were ignored (rule API-43)", async () => {
    const user = await system.signUp("ines");
    await user.addDefaultWallet();
    const scopes = ["payment_link:create"];
    const { key } = await user.call("post", "api-keys", { name: "shop", scopes });
    const response = await fetch(`${system.origin}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ toAmount: "1", max_usage: 1, success_url: "https://shop.example" }),
    });
    expect(response.status).toBe(200);
    await user.goTo("/keys", "Ignored fields: max_usage, success_url");
    expect(await findAxeViolations(user.tab.page)).toEqual([]);
  });

  test("creates a single link if the response to the first click is lost", async () => {
    const user = await system.signUp("olga");
    const { context, tab } = user;
    await user.addDefaultWallet();
    await openLinkForm(user, "5");
    await tab.page.getByText("More options").click();
    await tab.page.getByLabel("Expiry").selectOption("3");
    let isResponseLost = false;
    await context.route("**/console/api/payment-links?mode=live", async (route) => {
      if (route.request().method() !== "POST" || isResponseLost) return route.continue();
      isResponseLost = true;
      await route.fetch();
      return route.abort();
    });
    await tab.click("Create link", "We couldn't reach the server.");
    await tab.click("Create link", "Share");
    expect((await user.call("get", "payment-links")).data).toHaveLength(1);
  });
});

describeSoak("a user of the console", () => {
  test("hides the setup steps permanently, sees that some are open, and shows them again", async () => {
    const { goTo, tab } = await system.signUp("mona");
    await goTo("");
    await tab.click("Hide steps", "2 setup steps left");
    await tab.page.reload();
    await tab.waitForText("2 setup steps left");
    expect(await tab.readText()).not.toContain("Payments go straight to it.");
    await tab.click("Show steps", "Payments go straight to it.");
    await tab.page.reload();
    await tab.waitForText("1 of 3 steps done");
    expect(await tab.page.evaluate("localStorage.length")).toBe(0);
  });

  test("duplicates a link, filters the list, and deactivates a link after confirming", async () => {
    const user = await system.signUp("pia_work");
    const { goTo, tab } = user;
    await user.addDefaultWallet();
    await openLinkForm(user, "7.25");
    await tab.page.getByLabel("Description").fill("Tea");
    await tab.page.getByText("More options").click();
    await tab.page.getByLabel("Payment limit").fill("3");
    await tab.click("Create link", "Share");
    await tab.page.getByRole("link", { name: "Duplicate" }).click();
    await tab.waitForText("Create payment link");
    expect(await tab.page.getByLabel("Amount").inputValue()).toBe("7.25");
    expect(await tab.page.getByLabel("Payment limit").inputValue()).toBe("3");
    await tab.click("Create link", "Share");
    await tab.click("More actions");
    await tab.page.getByRole("menuitem", { name: "Deactivate" }).click();
    await tab.waitForText("Deactivate this link?");
    const cancelButton = tab.page.getByRole("dialog").getByRole("button", { name: "Cancel" });
    expect(await cancelButton.evaluate((element) => element.matches(":focus"))).toBe(true);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).click();
    await tab.waitForText("Link deactivated");
    await goTo("/links");
    await tab.page.getByRole("link", { name: "Deactivated" }).click();
    // While the list is loading, it has no rows.
    const rows = tab.page.locator("tbody tr");
    await waitUntil("only one link is listed", async () => (await rows.count()) === 1);
    expect(tab.page.url()).toContain("status=deactivated");
  });

  test("sees an invalid amount and a past date before anything is sent", async () => {
    const user = await system.signUp("quinn");
    const { tab } = user;
    await user.addDefaultWallet();
    await openLinkForm(user, "1,5");
    await tab.click("Create link", "Enter an amount above 0");
    await tab.page.getByLabel("Amount").fill("1.5");
    await tab.page.getByText("More options").click();
    await tab.page.getByLabel("Expiry").selectOption("date");
    await tab.page.getByLabel("Date and time").fill("2020-01-01T00:00");
    await tab.click("Create link", "The expiry must be in the future.");
    expect((await user.call("get", "payment-links")).data).toEqual([]);
  });
});

describe("a secret", () => {
  test("of a key is shown once on the page and is nowhere in the browser afterwards", async () => {
    const user = await system.signUp("rosa");
    const { goTo, tab } = user;
    await goTo("/keys");
    await tab.click("Create API key");
    await tab.page.getByText("More restrictions").click();
    await tab.page.getByLabel("Allowed IP addresses").fill("203.0.113.0/24, 2001:db8::1");
    await tab.page.getByLabel("Requests per minute").fill("60");
    await tab.type("Create API key", "shop");
    await tab.page.getByRole("dialog").getByRole("button", { name: "Create API key" }).dblclick();
    await tab.waitForText("Your new API key");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    const secret = await readSecret(user);
    expect(secret).toMatch(/^plk_/);
    const closeButton = tab.page.getByRole("dialog").getByRole("button", { name: "Close" });
    expect(await closeButton.isDisabled()).toBe(true);
    await tab.page.keyboard.press("Escape");
    await tab.page.getByLabel("I have saved it").check();
    await closeButton.click();
    await tab.waitForText("60 requests per minute");
    expect((await user.call("get", "api-keys")).data).toMatchObject([
      { cidrs: ["203.0.113.0/24", "2001:db8::1"], requestsPerMinute: 60, burst: null },
    ]);
    await expectSecretGone(user, secret);
    await tab.page.reload();
    await tab.waitForText("shop");
    await expectSecretGone(user, secret);
    await goTo("");
    await tab.page.goBack();
    await tab.waitForText("60 requests per minute");
    await expectSecretGone(user, secret);
  });

  test("of a webhook endpoint is shown once; the endpoint can be renamed, disabled, enabled and deleted", async () => {
    const user = await system.signUp("tess");
    const { goTo, tab } = user;
    await goTo("/webhooks");
    await tab.click("Add endpoint");
    await tab.page.getByLabel("Name").fill("shop");
    await tab.page.getByLabel("URL").fill("http://shop.test/hook");
    await tab.clickInDialog("Add endpoint", "The URL must start with https://.");
    await tab.page.getByLabel("URL").fill("https://shop.com:443/hook");
    await tab.clickInDialog("Add endpoint", "The URL must not contain a port, not even 443.");
    await tab.page.getByLabel("URL").fill("https://shop.com/hook");
    await tab.clickInDialog("Add endpoint", "Signing secret");
    const secret = await readSecret(user);
    expect(secret).toMatch(/^whsec_/);
    await tab.page.getByLabel("I have saved it").check();
    await tab.click("Close");
    await expectSecretGone(user, secret);
    await tab.page.reload();
    await tab.waitForText("shop.com");
    await expectSecretGone(user, secret);
    await tab.page.getByRole("link", { name: "shop" }).click();
    await tab.waitForText("Deliveries will appear here.");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    const url = tab.page.url();
    await tab.chooseInMenu("Actions: shop", "Rename");
    await tab.page.getByLabel("New name").fill("shop 2");
    await tab.clickInDialog("Rename", "shop 2");
    await tab.chooseInMenu("Actions: shop 2", "Disable");
    await tab.clickInDialog("Disable", "Disabled");
    await tab.chooseInMenu("Actions: shop 2", "Enable");
    await tab.waitForText("Enabled");
    await tab.chooseInMenu("Actions: shop 2", "Delete");
    await tab.clickInDialog("Delete", "Your webhook endpoints will appear here.");
    await tab.goTo(url, "This endpoint doesn't exist. If it was deleted, its log is still below.");
    await tab.waitForText("Deliveries will appear here.");
  });
});

describeSoak("a secret", () => {
  test("of a rotated key is also shown once; keys can be limited, deactivated and revoked", async () => {
    const user = await system.signUp("sara");
    const { goTo, tab } = user;
    await goTo("/keys");
    await tab.click("Create API key");
    await tab.type("Create API key", "old");
    await tab.clickInDialog("Create API key");
    await tab.page.getByLabel("I have saved it").check();
    await tab.click("Close");
    await tab.chooseInMenu("Actions: old", "Edit limits");
    await tab.page.getByRole("dialog").getByLabel("Burst").fill("5");
    await tab.click("Save", "burst of 5");
    await tab.chooseInMenu("Actions: old", "Deactivate");
    await tab.waitForText("Inactive");
    await tab.chooseInMenu("Actions: old", "Activate");
    await tab.page.getByText("Inactive").waitFor({ state: "detached" });
    await tab.chooseInMenu("Actions: old", "Rotate");
    await tab.clickInDialog("Rotate", "Your new API key");
    const secret = await readSecret(user);
    await tab.page.getByLabel("I have saved it").check();
    await tab.click("Close");
    await expectSecretGone(user, secret);
    await tab.waitForText("Replaced");
    expect((await user.call("get", "api-keys")).data).toHaveLength(2);
    const replacedRow = tab.page.locator("tr", { hasText: "Replaced" });
    await replacedRow.getByRole("button", { name: "Actions: old" }).click();
    await tab.page.getByRole("menuitem", { name: "Revoke" }).click();
    await tab.waitForText("Revoke old?");
    await tab.clickInDialog("Revoke");
    await tab.page.getByText("Replaced").waitFor({ state: "detached" });
    expect((await user.call("get", "api-keys")).data).toHaveLength(1);
  });
});

describe("the account", () => {
  test("shows when another default wallet takes effect, and can undo the change", async () => {
    const user = await system.signUp("vera");
    const { context, goTo, tab } = user;
    await user.addDefaultWallet();
    const patchBodies: unknown[] = [];
    await context.route("**/console/api/wallets**", async (route) => {
      if (route.request().method() === "PATCH") {
        patchBodies.push(route.request().postDataJSON());
        return route.fulfill({ json: {} });
      }
      const walletsResponse = await route.fetch();
      const { data } = await walletsResponse.json();
      const json = { data: [{ ...data[0], isDefault: false, defaultAt: "2026-11-22T10:00:00Z" }] };
      return route.fulfill({ response: walletsResponse, json });
    });
    await goTo("/account/wallets", "Default from Nov 22, 2026");
    await tab.click("Cancel change");
    await waitUntil("the change is sent", () => patchBodies.length > 0);
    expect(patchBodies).toEqual([{ isDefault: false }]);
  });

  test("links an Ethereum address, unlinks it, and ends another session", async () => {
    const { context, openTab } = await system.createUser();
    const wallet = await createConsoleWallet(context);
    const tab = await openTab();
    await tab.goTo(await system.createSignInUrl("wendy"));
    await tab.click("Sign in as wendy", "Add a passkey");
    await tab.click("Not now", "Signed in as wendy");
    const otherUser = await system.createUser();
    const otherTab = await otherUser.openTab();
    await otherTab.goTo(await system.createNewSignInUrl("wendy"));
    await otherTab.click("Sign in as wendy", "Add a passkey");
    await otherTab.click("Not now", "Signed in as wendy");
    await tab.goTo(`${system.origin}/console/account/sign-in`);
    await tab.click("Link Ethereum address");
    await tab.waitForText(wallet.address);
    const menuName = `Actions: ${wallet.address}`;
    await tab.chooseInMenu(menuName, "Unlink");
    await tab.clickInDialog("Unlink", "This is the account's last sign-in method");
    await tab.clickInDialog("Cancel");
    wallet.changeAccount();
    await tab.click("Link Ethereum address");
    await tab.waitForText(wallet.address);
    await tab.chooseInMenu(menuName, "Unlink");
    await tab.clickInDialog("Unlink");
    await tab.page.getByRole("button", { name: menuName }).waitFor({ state: "detached" });
    await tab.goTo(`${system.origin}/console/account/sessions`, "Chrome on");
    await tab.click("End session: Chrome on Linux");
    await tab.page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
    const accountResponse = await otherUser.context.request.get(
      `${system.origin}/console/api/account`,
    );
    expect(accountResponse.status()).toBe(401);
    expect((await context.request.get(`${system.origin}/console/api/account`)).status()).toBe(200);
  });

  test("ends all other sessions after confirming, and stays signed in", async () => {
    const { call, goTo, tab } = await system.signUp("willa");
    const otherUsers = [await system.createUser(), await system.createUser()];
    for (const { openTab } of otherUsers) {
      const otherTab = await openTab();
      await otherTab.goTo(await system.createNewSignInUrl("willa"));
      await otherTab.click("Sign in as willa", "Add a passkey");
      await otherTab.click("Not now", "Signed in as willa");
    }
    await goTo("/account/sessions", "This device");
    expect((await call("get", "sessions")).data).toHaveLength(3);
    await tab.click("Sign out everywhere else");
    const isCancelFocused = () =>
      tab.page
        .getByRole("dialog")
        .getByRole("button", { name: "Cancel" })
        .evaluate((button) => button.matches(":focus"));
    await waitUntil("the cancel button has the focus", isCancelFocused);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.clickInDialog("Sign out everywhere else");
    await tab.page.getByRole("dialog").waitFor({ state: "detached" });
    await tab.page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
    expect((await call("get", "sessions")).data).toMatchObject([{ isCurrent: true }]);
    expect(await tab.page.getByRole("button", { name: "Sign out everywhere else" }).count()).toBe(
      0,
    );
    for (const { context } of otherUsers) {
      const response = await context.request.get(`${system.origin}/console/api/account`);
      expect(response.status()).toBe(401);
    }
  });

  test("shows its audit log by kind and downloads it", async () => {
    const { context, goTo, tab } = await system.signUp("xena");
    const auditEntry = {
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
    const requestedUrls: string[] = [];
    await context.route("**/console/api/audit-log?*", async (route) => {
      requestedUrls.push(route.request().url());
      const response = await route.fetch();
      const page = await response.json();
      await route.fulfill({ response, json: { ...page, data: [auditEntry, ...page.data] } });
    });
    await goTo("/account/log", "Sign-in link created");
    await tab.waitForText("Signed-in user · Sign-in link");
    await tab.waitForText("account.of_tomorrow");
    await tab.page.getByLabel("Action").selectOption("Sessions");
    await tab.click("Apply");
    await tab.page.getByText("Sign-in link created").waitFor({ state: "detached" });
    expect(tab.page.url()).toContain("action=session");
    const downloadPromise = tab.page.waitForEvent("download");
    await tab.page.getByRole("button", { name: "Download CSV" }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await downloadPromise).createReadStream())
      chunks.push(chunk as Buffer);
    const csvText = Buffer.concat(chunks).toString();
    expect(csvText).toContain("session.started");
    expect(csvText).not.toContain("sign_in_link.made");
    await tab.waitForText("Download complete.");
    const today = system.clock.now().toISOString().slice(0, 10);
    await tab.page.getByLabel("Before").fill(today);
    await tab.click("Apply");
    await tab.page.waitForURL(`**/console/account/log?action=session&to=${today}`);
    const tomorrow = new Date(`${today}T00:00`);
    tomorrow.setDate(tomorrow.getDate() + 1);
    const expectedQuery = `to=${encodeURIComponent(tomorrow.toISOString())}`;
    await waitUntil(
      "the request covers the whole day",
      () => requestedUrls.at(-1)?.includes(expectedQuery) === true,
    );
    await tab.page.reload();
    await tab.waitForText("Download CSV");
    expect(await tab.page.getByLabel("Before").inputValue()).toBe(today);
    expect(await tab.page.getByLabel("Action").inputValue()).toBe("session");
  });
});

describeSoak("the account", () => {
  test("previews the payer's view while typing and saves only changed fields", async () => {
    const user = await system.signUp("uma");
    const { context, goTo, tab } = user;
    const patchBodies: unknown[] = [];
    await context.route("**/console/api/account", (route) => {
      if (route.request().method() === "PATCH") patchBodies.push(route.request().postDataJSON());
      return route.continue();
    });
    await goTo("/account/profile");
    await tab.page.getByLabel("About you").fill("Tea & more");
    await tab.page.getByLabel("No custom color").uncheck();
    await tab.waitForText("Tea & more");
    await tab.click("Save profile", "Saved");
    expect(patchBodies).toEqual([{ bio: "Tea & more", backgroundColour: "#1f4fd8" }]);
  });
});

const now = new Date();
const payment: OwnPaymentData = {
  id: "tx_1",
  status: "settled",
  applied: false,
  reason: "expired",
  amount: "2.5",
  tokenAddress: walletAddress,
  chainId: "8453",
  sender: null,
  sourceTransaction: null,
  transactionUrl: null,
  dateCreated: now.toISOString(),
  paymentLinkId: "plink_1",
};

/** These tests do not process events, so they mock the services' responses about payments. */
const mockResponse = async (
  { context }: Pick<ConsoleUser, "context">,
  path: string,
  json: object,
) => context.route(`**/console/api/${path}`, (route) => route.fulfill({ json }));

describe("payment results", () => {
  test("appear in a link's activity, with advice about money that was not applied", async () => {
    const user = await system.signUp("zara");
    const { tab } = user;
    await user.addDefaultWallet();
    await openLinkForm(user, "9");
    const timeline: LinkStory = {
      data: [
        { kind: "payment_ended", at: null, by: null, payment, refund: null },
        { kind: "payment_seen", at: now.toISOString(), by: null, payment, refund: null },
        {
          kind: "created",
          at: now.toISOString(),
          by: { kind: "session", id: "s" },
          payment: null,
          refund: null,
        },
      ],
      nextAfter: null,
    };
    await mockResponse(user, "payment-links/*/story?order=desc", timeline);
    await tab.click("Create link", "Payment not applied");
    await tab.waitForText("Contact the payer or refund the payment.");
    await tab.waitForText("time unknown");
    expect(await findAxeViolations(tab.page)).toEqual([]);
  });
});
