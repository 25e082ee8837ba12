import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingChromium } from "../rig/find-chromium.ts";
import {
  type Payer,
  clickPay,
  holdLooks,
  mayPay,
  payUnmined,
  paymentsOf,
} from "../rig/open-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { WalletError, never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

const units = 1_000_000n;

const rig = useCheckout();
afterEach(async () => {
  await rig.chain.ask("evm_setAutomine", [true]);
  await rig.chain.mine();
});

/** No button pays, nor after a reload, and nothing was paid twice. */
const expectNoSecondPayment = async (tab: Payer): Promise<void> => {
  expect(await mayPay(tab)).toBe(false);
  expect(await tab.text()).not.toMatch(/did not carry|nothing was paid/i);
  await tab.page.reload();
  expect(await mayPay(tab)).toBe(false);
  expect(paymentsOf(tab.wallet)).toHaveLength(1);
};

describe("a link that is paid", () => {
  test("has its payment in the first HTML once that is seen, for a person without a script too (rule CHAIN-13)", async () => {
    const tab = await rig.openPayer({ toAmount: "25" });
    await rig.chain.pay({ ...tab.link, amount: 25n * units });
    await rig.system.showWhen(tab.link.id, ({ payments }) => payments.length === 1);
    const reader = await rig.openPerson({ javaScriptEnabled: false });
    const plain = await reader.openTab();
    await plain.goTo(tab.link.pageUrl);
    expect(await plain.text()).toMatch(/A payment of 25 USDC was seen/);
    await holdLooks(tab);
    await tab.goTo(tab.link.pageUrl);
    expect(await mayPay(tab)).toBe(false);
  });

  test("is shown as paid where that happened between the page and its first look", async () => {
    const tab = await rig.openPayer({ toAmount: "25" });
    await tab.page.route(
      tab.link.pageUrl,
      async (route) => {
        const response = await route.fetch();
        await rig.chain.pay({ ...tab.link, amount: 25n * units });
        await rig.chain.mine(3);
        await rig.system.showWhen(tab.link.id, ({ status }) => status === "completed");
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await tab.goTo(tab.link.pageUrl);
    await tab.see("This payment link has been paid.");
  });

  test("by its last use, with less than was asked, is not called paid", async () => {
    const tab = await rig.openPayer({ toAmount: "100", maxUsage: 1 });
    await rig.chain.pay({ ...tab.link, amount: units });
    await rig.chain.mine(3);
    await rig.system.showWhen(tab.link.id, ({ status }) => status === "completed");
    await tab.goTo(tab.link.pageUrl);
    expect(await tab.text()).not.toContain("has been paid");
    await tab.see("1 of 100 USDC arrived");
  });

  test("while a wallet was about to pay it, is not paid", async () => {
    const tab = await rig.openPayer({ toAmount: "25" });
    await tab.goTo(tab.link.pageUrl);
    tab.wallet.decide("eth_requestAccounts", async (params) => {
      await rig.chain.pay({ ...tab.link, amount: 25n * units });
      await rig.chain.mine(3);
      await rig.system.showWhen(tab.link.id, ({ status }) => status === "completed");
      return tab.wallet.answer("eth_requestAccounts", params);
    });
    await clickPay(tab);
    await tab.see("This payment link has been paid.");
    expect(tab.wallet.sent()).toEqual([]);
  });
});

describe("a payment that was sent, while nobody watches the chain (rule CHAIN-13)", () => {
  beforeAll(() => rig.system.stopWatchers());
  afterAll(() => rig.system.startWatcher());

  test.each<[string, (params: readonly unknown[]) => unknown]>([
    [
      "fails",
      () => {
        throw new WalletError(-32603, "the node is away");
      },
    ],
    ["hangs", never],
  ])("is not offered again where asking for its receipt %s", async (_how, answer) => {
    const tab = await rig.openPayer({ toAmount: "25" });
    const { wallet } = tab;
    let askedAfter = 0;
    wallet.decide("eth_getTransactionReceipt", (params) => {
      if (paymentsOf(wallet).length === 0) {
        return wallet.answer("eth_getTransactionReceipt", params);
      }
      askedAfter += 1;
      return answer(params);
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await waitUntil("the question for the receipt", () => askedAfter > 0);
    await holdLooks(tab);
    await expectNoSecondPayment(tab);
  });

  test("is remembered over a reload, and in another tab", async () => {
    const tab = await rig.openPayer({ toAmount: "25" });
    const other = await tab.person.openTab();
    await other.goTo(tab.link.pageUrl);
    expect(await mayPay(other)).toBe(true);
    await payUnmined(rig, tab);
    await holdLooks(tab);
    await expectNoSecondPayment(tab);
    await other.see("Do not pay again");
    expect(await mayPay(other)).toBe(false);
  });

  test("of which the wallet never told is remembered, until the person says that it is gone", async () => {
    const tab = await rig.openPayer({ toAmount: "25" });
    tab.wallet.decide("eth_sendTransaction", never);
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await waitUntil("the wallet's question", () => paymentsOf(tab.wallet).length === 1);
    await expectNoSecondPayment(tab);
    await tab.see("Your wallet was asked for this payment");
    await tab.click("It never arrived, or was cancelled");
    await tab.click("Keep waiting");
    expect(await mayPay(tab)).toBe(false);
    await tab.click("It never arrived, or was cancelled");
    await tab.click("It is gone, let me pay again");
    tab.wallet.decide("eth_sendTransaction");
    await clickPay(tab);
    await tab.see("Do not pay again. Transaction 0x");
    expect(paymentsOf(tab.wallet)).toHaveLength(2);
  });

  test("by a wallet that then failed is no more offered than one that it told of", async () => {
    const tab = await rig.openPayer({ toAmount: "25" });
    tab.wallet.decide("eth_sendTransaction", async (params) => {
      await tab.wallet.answer("eth_sendTransaction", params);
      throw new WalletError(-32603, "timeout");
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.see("Your wallet was asked for this payment");
    await expectNoSecondPayment(tab);
  });

  test("and that the network refused can be paid again, and the page says why", async () => {
    const tab = await rig.openPayer({ toAmount: "25" });
    tab.wallet.decide("eth_getTransactionReceipt", () => ({ status: "0x0" }));
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.see("The network refused your transaction; nothing was paid by it.");
    expect(await mayPay(tab)).toBe(true);
  });

  test("and whose place another transaction took can be paid again, also after a reload", async () => {
    const tab = await rig.openPayer({ toAmount: "25" });
    const hash = await payUnmined(rig, tab);
    await tab.page.reload();
    expect(await mayPay(tab)).toBe(false);
    await rig.chain.replace(`0x${hash.slice(2)}`);
    await rig.chain.mine(2);
    await tab.see("Another transaction of your wallet took the payment's place");
    expect(await mayPay(tab)).toBe(true);
  });

  test("and was sped up is followed under its new hash", async () => {
    const tab = await rig.openPayer({ toAmount: "25" });
    const hash = await payUnmined(rig, tab);
    const [former] = paymentsOf(tab.wallet);
    const sent = (await rig.chain.ask("eth_getTransactionByHash", [hash])) as { nonce: string };
    const faster = String(
      await rig.chain.ask("eth_sendTransaction", [
        {
          ...former,
          nonce: sent.nonce,
          maxFeePerGas: "0x2540be400",
          maxPriorityFeePerGas: "0x2540be400",
        },
      ]),
    );
    await rig.chain.mine(2);
    await tab.see(`Transaction ${faster}`);
    await expectNoSecondPayment(tab);
  });
});

describe("an allowance that was sent", () => {
  /** Known to the node, and used by no other file. */
  const account = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";

  test("is no payment: after a reload it is not sent again, and the payment goes on (rule CHAIN-13)", async () => {
    await rig.mint(account, 25n * units);
    const tab = await rig.openPayer({ toAmount: "25", account });
    tab.wallet.decide("eth_sendTransaction", async (params) => {
      await rig.chain.ask("evm_setAutomine", [false]);
      return tab.wallet.answer("eth_sendTransaction", params);
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.see("The allowance was sent; no payment yet.");
    await tab.page.reload();
    expect(await mayPay(tab)).toBe(true);
    await clickPay(tab);
    await tab.see("The allowance was sent; no payment yet.");
    tab.wallet.decide("eth_sendTransaction");
    await rig.chain.ask("evm_setAutomine", [true]);
    await rig.chain.mine();
    await tab.see("Do not pay again. Transaction 0x");
    expect(tab.wallet.sent()).toHaveLength(2);
    expect(paymentsOf(tab.wallet)).toHaveLength(1);
  });
});
