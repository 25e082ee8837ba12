import { afterAll, beforeAll, expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { createConsoleWallet as createSignInWallet } from "./rig/console-wallet.ts";
import { startAllInOneSystem } from "./rig/all-in-one-system.ts";
import { type Chromium, type Tab, connectChromium } from "./rig/chromium.ts";
import { call } from "./rig/client.ts";
import { requireChromium } from "./rig/require-chromium.ts";
import { isSignedWith, startReceiver } from "./rig/receiver.ts";
import { createWallet } from "./rig/wallet.ts";

const { describe, test } = requireChromium();

const payerAddress = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/** An address without an owner. */
const shopAddress = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";

let system: Awaited<ReturnType<typeof startAllInOneSystem>>;
let chromium: Chromium;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let nodeUrl: string;

beforeAll(async () => {
  const [devnetPort = 0] = await findFreePorts(1);
  nodeUrl = `http://127.0.0.1:${devnetPort}`;
  receiver = await startReceiver();
  const env = {
    DEVNET_PORT: String(devnetPort),
    RATE_LIMIT_PER_IP: "10000:10000",
    WEBHOOK_HOST_OVERRIDES: `receiver.test=http://127.0.0.1:${receiver.port}`,
  };
  system = await startAllInOneSystem(env, { withDevnet: true });
  chromium = await connectChromium();
});
afterAll(async () => {
  await chromium?.close();
  await system?.close();
  await receiver?.close();
});

const mintTokens = (baseUnits: bigint) => {
  const abiWords = [payerAddress.slice(2).toLowerCase(), baseUnits.toString(16)];
  const data = `0x40c10f19${abiWords.map((abiWord) => abiWord.padStart(64, "0")).join("")}`;
  const params = [{ from: payerAddress, to: devnet.token, data }];
  const body = { jsonrpc: "2.0", id: 1, method: "eth_sendTransaction", params };
  return call(nodeUrl, { method: "POST", body });
};

const followLink = ({ page }: Tab, name: string) =>
  page.getByRole("link", { name, exact: true }).first().click();

/** Opens the next step of the setup from the overview. */
const openSetupStep = async (tab: Tab, step: string): Promise<void> => {
  await followLink(tab, "Overview");
  await followLink(tab, step);
};

const storeSecret = async (tab: Tab): Promise<string> => {
  const secret = await tab.page.getByRole("dialog").locator("code").innerText();
  await tab.page.getByLabel("I have saved it").check();
  await tab.click("Close");
  return secret;
};

/** Completes the setup steps of the overview. Returns the first link and a webhook secret. */
const completeSetup = async (tab: Tab) => {
  const getField = (label: string) => tab.page.getByLabel(label, { exact: true });
  await openSetupStep(tab, "Choose handle");
  await getField("Handle").fill("tea_house");
  await getField("Name").fill("Tea house");
  await tab.click("Save profile", "Saved");
  await openSetupStep(tab, "Add wallet");
  await tab.click("Add wallet");
  await getField("Address").fill(shopAddress);
  await tab.clickInDialog("Continue", "Check the address");
  await tab.clickInDialog("Add wallet", "Default on Local devnet");
  await openSetupStep(tab, "Add endpoint");
  await tab.click("Add endpoint");
  await getField("Name").fill("till");
  await getField("URL").fill("https://receiver.test/hook");
  await tab.clickInDialog("Add endpoint");
  const secret = await storeSecret(tab);
  await openSetupStep(tab, "Create API key");
  await tab.click("Create API key");
  await getField("Name").fill("till");
  await tab.clickInDialog("Create API key");
  await storeSecret(tab);
  await openSetupStep(tab, "Create link");
  await getField("Amount").fill("25");
  await getField("Description").fill("Order 7");
  await tab.click("Create link", "Share");
  const payerPageLink = tab.page.getByRole("link", { name: "Open payment page" });
  return { secret, url: (await payerPageLink.getAttribute("href")) ?? "" };
};

const payLink = async (tab: Tab, url: string): Promise<void> => {
  await tab.goTo(url, "Test mode. No real money.");
  await tab.waitForText("Order 7");
  await tab.click("Pay 25 USDC", "Payment complete");
  await followLink(tab, "View receipt");
  await tab.waitForText("Payment settled");
  await tab.waitForText("Order 7");
};

describe("npm start with its development chain, end to end", () => {
  test("takes a new user to a paid link, a receipt and its webhooks, using only browsers", async () => {
    const ownerUser = await chromium.createBrowserUser({ origin: system.baseUrl });
    await createSignInWallet(ownerUser.context);
    const shopTab = await ownerUser.openTab();
    // Local chains belong to test mode.
    await shopTab.goTo(`${system.baseUrl}/console/test`);
    await shopTab.click("Sign in with Ethereum", "Signed in as");
    const { secret, url } = await completeSetup(shopTab);
    receiver.setResponder((received) => (isSignedWith(secret, received) ? 204 : 401));

    await mintTokens(25_000_000n);
    const wallet = createWallet({ nodeUrl, account: payerAddress, chainId: devnet.chainId });
    const payerUser = await chromium.createBrowserUser({
      origin: system.baseUrl,
      wallets: [wallet],
    });
    await payLink(await payerUser.openTab(), url);

    // The owner's tab still shows the link. It updates without a reload.
    const expectedTexts = [
      "Payment detected",
      "Payment succeeded",
      "Link paid",
      "25.00 of 25.00 USDC",
    ];
    for (const expectedText of expectedTexts) await shopTab.waitForText(expectedText);
    for (const type of ["payment_link.transaction.succeeded", "payment_link.completed"]) {
      const entry = shopTab.page.getByRole("listitem").filter({ hasText: type });
      await entry.filter({ hasText: "Delivered" }).waitFor();
    }
    await followLink(shopTab, "till");
    await shopTab.waitForText("Delivery log");
    const logEntries = shopTab.page.getByRole("list", { name: "Delivery log" }).getByRole("link");
    const deliveredEntries = logEntries.filter({ hasText: "Delivered" });
    await waitUntil(
      "the page shows two deliveries",
      async () => (await deliveredEntries.count()) === 2,
    );
    await deliveredEntries.first().click();
    await shopTab.waitForText("POST https://receiver.test/hook");
    await shopTab.waitForText("Response bodies aren't stored.");
    await shopTab.waitForText("HTTP 204");
    await openSetupStep(shopTab, "Paid");
    await shopTab.waitForText("Order 7");
    await followLink(shopTab, "Overview");
    await shopTab.waitForText("Received in the last 30 days");
    await shopTab.waitForText("25.00 USDC");
    await waitUntil(
      "the setup is finished",
      async () => !(await shopTab.readText()).includes("Finish setup"),
    );
    expect(receiver.received.map(({ body }) => body.type).sort()).toEqual([
      "payment_link.completed",
      "payment_link.transaction.succeeded",
    ]);

    await Promise.all([ownerUser.close(), payerUser.close()]);
    expect([...ownerUser.violations, ...payerUser.violations]).toEqual([]);
  });
});
