import { afterAll, beforeAll, expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { openAllInOneSystem } from "./rig/all-in-one-system.ts";
import { openChromium } from "./rig/chromium.ts";
import { type Merchant, call, openMerchant } from "./rig/client.ts";
import { needingChromium } from "./rig/find-chromium.ts";
import { findFreePorts } from "./rig/free-port.ts";
import { openWallet } from "./rig/wallet.ts";

const { program, describe, test } = await needingChromium();

const payer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/** An address of nobody's: what is paid here is worth nothing. */
const shopAddress = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";

let system: Awaited<ReturnType<typeof openAllInOneSystem>>;
let chromium: Awaited<ReturnType<typeof openChromium>>;
let shop: Merchant;
let nodeUrl: string;

beforeAll(async () => {
  if (program === undefined) return;
  const [devnetPort = 0] = await findFreePorts(1);
  nodeUrl = `http://127.0.0.1:${devnetPort}`;
  const env = { DEVNET_PORT: String(devnetPort), RATE_LIMIT_PER_IP: "10000:10000" };
  system = await openAllInOneSystem(env, { withDevnet: true });
  chromium = await openChromium(program);
  shop = await openMerchant(system, "shop");
  const added = await call(`${system.baseUrl}/console/api/wallets`, {
    method: "POST",
    headers: { cookie: shop.cookie },
    body: { walletAddress: shopAddress, tokenId: devnet.tokenId, isDefault: true },
  });
  expect(added.status).toBe(201);
});
afterAll(async () => {
  await chromium?.close();
  await system?.close();
});

const askNode = (method: string, ...params: unknown[]) =>
  call(nodeUrl, { method: "POST", body: { jsonrpc: "2.0", id: 1, method, params } });

const mint = (units: bigint) => {
  const words = [payer.slice(2).toLowerCase(), units.toString(16)];
  const data = `0x40c10f19${words.map((word) => word.padStart(64, "0")).join("")}`;
  return askNode("eth_sendTransaction", { from: payer, to: devnet.token, data });
};

describe("a payer's browser on the development chain of npm start", () => {
  test("pays a link that settles without anybody's help, and gets a receipt", async () => {
    await mint(25_000_000n);
    const headers = { "x-api-key": shop.apiKey };
    const made = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers,
      body: { toAmount: "25", description: "Order 7" },
    });
    const wallet = openWallet({ nodeUrl, account: payer, chainId: devnet.chainId });
    const person = await chromium.openPerson({ origin: system.baseUrl, wallets: [wallet] });
    const tab = await person.openTab();
    await tab.goTo(String(made.body["url"]));
    await tab.see("TEST: Local devnet is a test network.");
    await tab.click("Pay 25 USDC");
    await tab.see("This payment link has been paid.");
    await tab.page.getByRole("link", { name: "Receipt of the last payment" }).click();
    await tab.see("This payment has settled.");
    await tab.see("Order 7");
    await person.close();
    expect(person.faults).toEqual([]);
  });
});
