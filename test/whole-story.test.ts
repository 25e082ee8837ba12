import { afterAll, beforeAll, expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { openWallet as openSigner } from "./rig/open-console-wallet.ts";
import { openAllInOneSystem } from "./rig/all-in-one-system.ts";
import { type Chromium, type Tab, connectChromium } from "./rig/chromium.ts";
import { call } from "./rig/client.ts";
import { needingChromium } from "./rig/find-chromium.ts";
import { findFreePorts } from "./rig/free-port.ts";
import { isSignedWith, openReceiver } from "./rig/receiver.ts";
import { openWallet } from "./rig/wallet.ts";

const { describe, test } = needingChromium();

const payerAddress = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/** An address of nobody's: what is paid here is worth nothing. */
const shopAddress = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";

let system: Awaited<ReturnType<typeof openAllInOneSystem>>;
let chromium: Chromium;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let nodeUrl: string;

beforeAll(async () => {
  const [devnetPort = 0] = await findFreePorts(1);
  nodeUrl = `http://127.0.0.1:${devnetPort}`;
  receiver = await openReceiver();
  const env = {
    DEVNET_PORT: String(devnetPort),
    RATE_LIMIT_PER_IP: "10000:10000",
    WEBHOOK_HOST_OVERRIDES: `receiver.test=http://127.0.0.1:${receiver.port}`,
  };
  system = await openAllInOneSystem(env, { withDevnet: true });
  chromium = await connectChromium();
});
afterAll(async () => {
  await chromium?.close();
  await system?.close();
  await receiver?.close();
});

const mint = (units: bigint) => {
  const words = [payerAddress.slice(2).toLowerCase(), units.toString(16)];
  const data = `0x40c10f19${words.map((word) => word.padStart(64, "0")).join("")}`;
  const params = [{ from: payerAddress, to: devnet.token, data }];
  const body = { jsonrpc: "2.0", id: 1, method: "eth_sendTransaction", params };
  return call(nodeUrl, { method: "POST", body });
};

const follow = ({ page }: Tab, name: string) =>
  page.getByRole("link", { name, exact: true }).first().click();

/** Takes the next step of the first run, from the overview. */
const take = async (tab: Tab, step: string): Promise<void> => {
  await follow(tab, "Overview");
  await follow(tab, step);
};

const takeSecret = async (tab: Tab): Promise<string> => {
  const secret = await tab.page.getByRole("dialog").locator("code").innerText();
  await tab.page.getByLabel("I have stored it").check();
  await tab.click("Close");
  return secret;
};

/** What a new account lacks, as the overview names it; answers the first link and a secret. */
const setUp = async (tab: Tab) => {
  const field = (label: string) => tab.page.getByLabel(label, { exact: true });
  await take(tab, "Choose a handle");
  await field("Handle").fill("tea_house");
  await field("Name").fill("Tea house");
  await tab.click("Save the profile");
  await tab.see("Saved.");
  await take(tab, "Add a wallet");
  await field("Address").fill(shopAddress);
  await tab.click("Add wallet");
  await tab.see("Default on Local devnet");
  await take(tab, "Add an endpoint");
  await field("Name").fill("till");
  await field("Address").fill("https://receiver.test/hook");
  await tab.click("Create endpoint");
  const secret = await takeSecret(tab);
  await take(tab, "Make a key");
  await field("Name").fill("till");
  await tab.click("Create API key");
  await takeSecret(tab);
  await take(tab, "Make a link");
  await field("Amount").fill("25");
  await field("Description").fill("Order 7");
  await tab.click("Create the link");
  await tab.see("Share it");
  const opening = tab.page.getByRole("link", { name: "Open the payer's page" });
  return { secret, url: (await opening.getAttribute("href")) ?? "" };
};

const pay = async (tab: Tab, url: string): Promise<void> => {
  await tab.goTo(url);
  await tab.see("TEST: Local devnet is a test network.");
  await tab.see("Order 7");
  await tab.click("Pay 25 USDC");
  await tab.see("This payment link has been paid.");
  await follow(tab, "Receipt of the last payment");
  await tab.see("This payment has settled.");
  await tab.see("Order 7");
};

describe("the whole story, on npm start with its development chain", () => {
  test("goes from nobody to a paid link, a receipt and its webhooks, in browsers alone", async () => {
    const owner = await chromium.openPerson({ origin: system.baseUrl });
    await openSigner(owner.context);
    const shop = await owner.openTab();
    await shop.goTo(`${system.baseUrl}/console`);
    await shop.click("Sign in with Ethereum");
    await shop.see("Signed in as");
    const { secret, url } = await setUp(shop);
    receiver.answerWith((received) => (isSignedWith(secret, received) ? 204 : 401));

    await mint(25_000_000n);
    const wallet = openWallet({ nodeUrl, account: payerAddress, chainId: devnet.chainId });
    const payer = await chromium.openPerson({ origin: system.baseUrl, wallets: [wallet] });
    await pay(await payer.openTab(), url);

    // The owner's tab still stands on the link, and hears of it by itself.
    const told = ["Payment seen", "Payment settled", "Counts", "25 / 25 USDC", "Completed"];
    for (const words of told) await shop.see(words);
    for (const type of ["payment_link.transaction.succeeded", "payment_link.completed"]) {
      await shop.see(`${type} Delivered`);
    }
    await follow(shop, "till");
    await shop.see("Delivery log");
    const delivered = shop.page.getByRole("row").filter({ hasText: "Delivered" });
    await waitUntil("two deliveries", async () => (await delivered.count()) === 2);
    await take(shop, "Completed");
    await shop.see("Order 7");
    await follow(shop, "Overview");
    await shop.see("Received in the last 30 days");
    await shop.see("25 USDC");
    expect(await shop.text()).not.toContain("Set up");
    expect(receiver.received.map(({ body }) => body.type).sort()).toEqual([
      "payment_link.completed",
      "payment_link.transaction.succeeded",
    ]);

    await Promise.all([owner.close(), payer.close()]);
    expect([...owner.faults, ...payer.faults]).toEqual([]);
  });
});
