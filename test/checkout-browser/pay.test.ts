import { expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingChromium } from "../rig/find-chromium.ts";
import { type Payer, clickPay, mayPay, paymentsOf, publicRpcUrl } from "../rig/open-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { type TestWallet, WalletError } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

/** Known to the node, and used by no other file; it holds coins, no token, and allows nothing. */
const stranger = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";
/** One of the chain's payers, who holds and allows everything. */
const blocked = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
/** Another of them. */
const resetter = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";
/** A payer of no chain: it holds nothing. */
const penniless = "0x000000000000000000000000000000000000dEaD";

const rig = useCheckout();

const fail =
  (code: number, message = "no") =>
  () => {
    throw new WalletError(code, message);
  };

describe("a payer with a wallet", () => {
  test("allows the exact amount, pays it, and watches it settle without a reload of their own", async () => {
    await rig.mint(stranger, 1_234_500_000n);
    const payer = await rig.openPayer({ toAmount: "1234.5", account: stranger });
    await payer.goTo(payer.link.pageUrl);
    expect(await payer.text()).toContain("Pay 1,234.5 USDC");
    const url = `${rig.system.publicUrl}/checkout/payment-links/${payer.link.id}`;
    const { instructions } = (await (await fetch(url)).json()) as {
      instructions: { steps: { to: string; data: string }[] };
    };
    await clickPay(payer);
    await payer.see("Do not pay again");
    await payer.see("0x9965…A4dc has 1,234.5 USDC");
    expect(payer.wallet.sent()).toEqual(
      instructions.steps.map(({ to, data }) => ({ from: stranger, to, data, value: "0x0" })),
    );
    await payer.see("A payment of 1,234.5 USDC was seen and is being confirmed.");
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(await mayPay(payer)).toBe(false);
  });

  test("is led to the explorer of the chain, once the wallet has sent the payment (rule API-31)", async () => {
    const payer = await rig.openPayer({ toAmount: "3" });
    await payer.goTo(payer.link.pageUrl);
    const link = payer.page.getByRole("link", { name: "Look at the transaction on explorer.test" });
    await payer.see("Pay 3 USDC");
    expect(await link.isVisible()).toBe(false);
    await clickPay(payer);
    await link.waitFor();
    const attributes = ["href", "rel", "referrerpolicy"].map((name) => link.getAttribute(name));
    const [hash] = await payer.page.evaluate<string[]>(
      `Object.values(localStorage).map((kept) => JSON.parse(kept).payment.hash)`,
    );
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await Promise.all(attributes)).toEqual([
      `https://explorer.test/tx/${hash}`,
      "noopener noreferrer",
      "no-referrer",
    ]);
  });

  test("pays the chain's own coin in one step", async () => {
    const payer = await rig.openPayer({ toAmount: "1.5", tokenId: "coin" });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    const [sent, ...more] = payer.wallet.sent();
    expect([sent?.value, more]).toEqual(["0x14d1120d7b160000", []]);
    await payer.see("A payment of 1.5 ETH was seen");
  });

  test("takes an earlier allowance back first, where the token wants that", async () => {
    const token = rig.chain.addressOf("silent");
    const approve = async (amount: string) => {
      const words = [devnet.erc20FeeProxy.slice(2).toLowerCase(), amount];
      const data = `0x095ea7b3${words.map((word) => word.padStart(64, "0")).join("")}`;
      await rig.chain.ask("eth_sendTransaction", [{ from: resetter, to: token, data }]);
    };
    await approve("0");
    await approve("1");
    const payer = await rig.openPayer({ toAmount: "7", tokenId: "silent", account: resetter });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect(payer.wallet.sent().map(({ to }) => to)).toEqual([token, token, devnet.erc20FeeProxy]);
    await payer.see("A payment of 7 SILENT was seen");
  });

  test("that makes itself known late is found", async () => {
    const payer = await rig.openPayer({ toAmount: "25", announceAfterMs: 3_000 });
    await payer.goTo(payer.link.pageUrl);
    await payer.see("There is no wallet in this browser.");
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect(await payer.text()).not.toContain("There is no wallet");
  });

  test("has the choice among several", async () => {
    const payer = await rig.openPayer({ toAmount: "25", walletNames: ["First", "Second <b>"] });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Choose a wallet");
    await payer.click("Second <b>");
    await payer.see("Do not pay again");
    expect(payer.wallets.map((wallet) => paymentsOf(wallet).length)).toEqual([0, 1]);
  });

  test("knows the wallets by their own icons, of which only images of bounded size are shown", async () => {
    const walletNames = ["Small", "Elsewhere", "Page", "Huge"];
    const payer = await rig.openPayer({ toAmount: "25", walletNames });
    const small =
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
    const icons = [
      small,
      "https://images.test/icon.png",
      "data:text/html,<script>alert(1)</script>",
      `${small}${"A".repeat(200_000)}`,
    ];
    for (const [at, icon] of icons.entries())
      Object.assign(payer.wallets[at]?.info ?? {}, { icon });
    // What a wallet says of itself is read as the tab opens.
    const person = await rig.openPerson({ wallets: payer.wallets });
    const tab = await person.openTab();
    await tab.goTo(payer.link.pageUrl);
    await clickPay(tab);
    await tab.see("Choose a wallet");
    const found = await tab.page.evaluate(`[...document.querySelectorAll("#wallets button")].map(
      (button) => [button.innerText, button.querySelector("img")?.src ?? null])`);
    expect(found).toEqual([
      ["Small", small],
      ["Elsewhere", null],
      ["Page", null],
      ["Huge", null],
    ]);
    expect(await tab.page.evaluate(`document.querySelector("#wallets img").naturalWidth`)).toBe(1);
    expect(await findAxeFaults(tab.page)).toEqual([]);
  });

  test("who chooses among wallets by keyboard keeps their place while another makes itself known", async () => {
    const payer = await rig.openPayer({ toAmount: "25", walletNames: ["First", "Second"] });
    const page = payer.page;
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Choose a wallet");
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate("document.activeElement.innerText");
    expect(await focused()).toBe("Second");
    await page.evaluate(`window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: {
      info: { uuid: "third", name: "Third", rdns: "test.third" }, provider: { request() {} } } }))`);
    await payer.see("Third");
    expect(await focused()).toBe("Second");
  });

  test("is not hindered by a wallet that makes itself known without what belongs to it", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    await payer.goTo(payer.link.pageUrl);
    await payer.page.evaluate(`for (const detail of [null, {}, { info: { uuid: "x", name: 7 } }]) {
      window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })); }`);
    await clickPay(payer);
    await payer.see("Do not pay again");
  });

  test("has the choice again where the chosen one declined", async () => {
    const payer = await rig.openPayer({ toAmount: "25", walletNames: ["First", "Second"] });
    payer.wallet.decide("eth_requestAccounts", fail(4001));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.click("First");
    await payer.see("You declined in your wallet.");
    await clickPay(payer);
    await payer.click("Second");
    await payer.see("Do not pay again");
  });

  test("who declined is warned all the same once somebody else has paid", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    payer.wallet.decide("eth_requestAccounts", fail(4001));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("You declined in your wallet.");
    await rig.chain.pay({ ...payer.link, amount: 25_000_000n });
    await payer.see("A payment of 25 USDC was seen and is being confirmed. Do not pay again.");
    expect(await mayPay(payer)).toBe(false);
  });

  test("is told while the service is away, and that it is back", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    await payer.goTo(payer.link.pageUrl);
    await payer.person.context.setOffline(true);
    const words = "How this link stands cannot be read right now.";
    await payer.see(words);
    await payer.person.context.setOffline(false);
    await waitUntil("it is back", async () => !(await payer.text()).includes(words));
    expect(await mayPay(payer)).toBe(true);
  });

  test("may copy each thing that paying by hand takes", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    await payer.person.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await payer.goTo(payer.link.pageUrl);
    await payer.page.getByText("Details", { exact: true }).click();
    const copied: unknown[] = [];
    for (const name of ["Copy the payment contract", "Copy the payment reference"]) {
      await payer.click(name);
      copied.push(await payer.page.evaluate("navigator.clipboard.readText()"));
    }
    expect(copied).toEqual([devnet.erc20FeeProxy, `0x${payer.link.reference}`]);
  });

  test("nobody has, is told how to pay all the same", async () => {
    const { link } = await rig.openPayer({ toAmount: "25" });
    const person = await rig.openPerson({});
    const tab = await person.openTab();
    await tab.goTo(link.pageUrl);
    await tab.see("There is no wallet in this browser.");
    expect(await mayPay(tab)).toBe(false);
  });
});

const refusals: [string, (wallet: TestWallet) => void, string][] = [
  [
    "who declines to connect",
    (wallet) => wallet.decide("eth_requestAccounts", fail(4001)),
    "You declined in your wallet. Nothing was paid; you can try again.",
  ],
  [
    "who declines to pay",
    (wallet) => wallet.decide("eth_sendTransaction", fail(4001)),
    "You declined in your wallet. Nothing was paid; you can try again.",
  ],
  [
    "whose wallet stays on another network",
    (wallet) => {
      wallet.decide("eth_chainId", () => "0x1");
      wallet.decide("wallet_switchEthereumChain", () => null);
    },
    "Your wallet is on another network. Switch it to Local devnet, then try again.",
  ],
  [
    "whose wallet has an open question",
    (wallet) => wallet.decide("eth_requestAccounts", fail(-32002)),
    "Your wallet has an open question. Answer it there, then try again.",
  ],
  [
    "whose wallet lets no page see their account",
    (wallet) => wallet.decide("eth_requestAccounts", fail(4100)),
    "Your wallet does not let this page use your account. Unlock it and allow that, then try again.",
  ],
  [
    "whose wallet only watches",
    (wallet) => wallet.decide("eth_sendTransaction", fail(4200)),
    "This wallet cannot pay here. Nothing was paid; take another wallet, or pay by hand",
  ],
  [
    "whose wallet cannot reach the chain",
    (wallet) => wallet.decide("eth_call", fail(-32603)),
    "Your wallet cannot reach Local devnet right now. Nothing was paid; try again in a moment.",
  ],
  [
    "who has too little for the fee",
    (wallet) => wallet.decide("eth_getBalance", () => "0x1"),
    "0x7099…79C8 has too little ETH for the network's fee.",
  ],
];

/** Says what went wrong, to everybody, and can be tried again. */
const expectNothingPaid = async (payer: Payer, words: string): Promise<void> => {
  await payer.see(words);
  expect(await mayPay(payer)).toBe(true);
  expect(await findAxeFaults(payer.page)).toEqual([]);
  const { payments } = await rig.system.show(payer.link.id);
  expect(payments).toEqual([]);
};

describe("a payer", () => {
  test.each(refusals)("%s is told so, and may try again", async (_who, refuse, words) => {
    const payer = await rig.openPayer({ toAmount: "25" });
    refuse(payer.wallet);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await expectNothingPaid(payer, words);
  });

  test("whose wallet does not know the network is asked to add it, where the catalogue has a node for everybody", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    const { wallet } = payer;
    const chainId = "0x539";
    wallet.decide("eth_chainId", () => "0x1");
    wallet.decide("wallet_switchEthereumChain", fail(4902));
    wallet.decide("wallet_addEthereumChain", () => {
      wallet.decide("eth_chainId");
      return null;
    });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    const added = wallet.asked.find(({ method }) => method === "wallet_addEthereumChain");
    const nativeCurrency = { name: "ETH", symbol: "ETH", decimals: 18 };
    expect(added?.params).toEqual([
      { chainId, chainName: "Local devnet", nativeCurrency, rpcUrls: [publicRpcUrl] },
    ]);
  });

  test("whose wallet does not know the network is told to add it by hand, where it has none", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    await payer.page.route(payer.link.pageUrl, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(publicRpcUrl, "");
      await route.fulfill({ response, body });
    });
    payer.wallet.decide("eth_chainId", () => "0x1");
    payer.wallet.decide("wallet_switchEthereumChain", fail(4902));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await expectNothingPaid(
      payer,
      "Your wallet does not know Local devnet. Add this network in your wallet, then try again.",
    );
  });

  test("with too little of the token is told before anything is signed", async () => {
    const payer = await rig.openPayer({ toAmount: "25", account: penniless });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await expectNothingPaid(
      payer,
      "0x0000…dEaD has 0 USDC, which is less than 25. Nothing was sent; add some, or take another account",
    );
    expect(payer.wallet.sent()).toEqual([]);
  });

  test("whom the token's contract blocks is told before the payment is sent", async () => {
    await rig.chain.blockAccount(blocked);
    const payer = await rig.openPayer({ toAmount: "25", tokenId: "blocking", account: blocked });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await expectNothingPaid(
      payer,
      "Nothing was paid; take another account, or ask the owner how to pay.",
    );
    expect(paymentsOf(payer.wallet)).toEqual([]);
  });

  test("whose allowance the network refuses is told that nothing was paid", async () => {
    await rig.mint(stranger, 25_000_000n);
    const payer = await rig.openPayer({ toAmount: "25", account: stranger });
    payer.wallet.decide("eth_getTransactionReceipt", () => ({ status: "0x0" }));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await expectNothingPaid(payer, "The network refused the allowance. Nothing was paid");
    expect(paymentsOf(payer.wallet)).toEqual([]);
  });
});
