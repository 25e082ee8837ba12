import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { requireChromium } from "../rig/require-chromium.ts";
import {
  type Payer,
  clickPay,
  blockStatusPolling,
  canPay,
  sendUnminedPayment,
  listPaymentRequests,
} from "../rig/create-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { WalletError, neverRespond } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const baseUnitsPerToken = 1_000_000n;

const rig = useCheckout();
afterEach(async () => {
  await rig.chain.callRpc("evm_setAutomine", [true]);
  await rig.chain.mine();
});

/** Expects that the payer cannot pay, even after a reload, and that there is no second payment. */
const expectNoSecondPayment = async (tab: Payer): Promise<void> => {
  expect(await canPay(tab)).toBe(false);
  expect(await tab.readText()).not.toMatch(/nothing was paid/i);
  await tab.page.reload();
  expect(await canPay(tab)).toBe(false);
  expect(listPaymentRequests(tab.wallet)).toHaveLength(1);
};

describe("a paid link", () => {
  test("contains its payment in the initial HTML once it is seen, even without a script (rule CHAIN-13)", async () => {
    const tab = await rig.createPayer({ toAmount: "25" });
    await rig.chain.pay({ ...tab.link, amount: 25n * baseUnitsPerToken });
    await rig.system.waitForLink(tab.link.id, ({ payments }) => payments.length === 1);
    const userWithoutScript = await rig.createUser({ javaScriptEnabled: false });
    const plainTab = await userWithoutScript.openTab();
    await plainTab.goTo(tab.link.pageUrl);
    expect(await plainTab.readText()).toMatch(/Payment of 25 USDC detected/);
    await blockStatusPolling(tab);
    await tab.open();
    expect(await canPay(tab)).toBe(false);
  });

  test("is shown as paid if the payment completes between the page load and the first status request", async () => {
    const tab = await rig.createPayer({ toAmount: "25" });
    await tab.page.route(
      tab.link.pageUrl,
      async (route) => {
        const response = await route.fetch();
        await rig.chain.pay({ ...tab.link, amount: 25n * baseUnitsPerToken });
        await rig.chain.mine(3);
        await rig.system.waitForLink(tab.link.id, ({ status }) => status === "completed");
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await tab.open("Payment complete");
  });

  test("is not called paid if its last use received less than requested", async () => {
    const tab = await rig.createPayer({ toAmount: "100", maxUsage: 1 });
    await rig.chain.pay({ ...tab.link, amount: baseUnitsPerToken });
    await rig.chain.mine(3);
    await rig.system.waitForLink(tab.link.id, ({ status }) => status === "completed");
    await tab.open();
    expect(await tab.readText()).not.toContain("Payment complete");
    await tab.waitForText("1 of 100 USDC received");
  });

  test("is not paid again if it completes while the wallet connects", async () => {
    const tab = await rig.createPayer({ toAmount: "25" });
    await tab.open();
    tab.wallet.setHandler("eth_requestAccounts", async (params) => {
      await rig.chain.pay({ ...tab.link, amount: 25n * baseUnitsPerToken });
      await rig.chain.mine(3);
      await rig.system.waitForLink(tab.link.id, ({ status }) => status === "completed");
      return tab.wallet.callMethod("eth_requestAccounts", params);
    });
    await clickPay(tab);
    await tab.waitForText("Payment complete");
    expect(tab.wallet.listSentTransactions()).toEqual([]);
  });
});

describe("a sent payment while no watcher runs (rule CHAIN-13)", () => {
  beforeAll(() => rig.system.stopWatchers());
  afterAll(() => rig.system.startWatcher());

  test.each<[string, (params: readonly unknown[]) => unknown]>([
    [
      "fails",
      () => {
        throw new WalletError(-32603, "the node is away");
      },
    ],
    ["hangs", neverRespond],
  ])("is not offered again if the request for its receipt %s", async (_case, walletResponse) => {
    const tab = await rig.createPayer({ toAmount: "25" });
    const { wallet } = tab;
    let receiptRequestCount = 0;
    wallet.setHandler("eth_getTransactionReceipt", (params) => {
      if (listPaymentRequests(wallet).length === 0) {
        return wallet.callMethod("eth_getTransactionReceipt", params);
      }
      receiptRequestCount += 1;
      return walletResponse(params);
    });
    await tab.startPayment();
    await waitUntil("the page requests the receipt", () => receiptRequestCount > 0);
    await blockStatusPolling(tab);
    await expectNoSecondPayment(tab);
  });

  test("is remembered after a reload and in another tab", async () => {
    const tab = await rig.createPayer({ toAmount: "25" });
    const otherTab = await tab.user.openTab();
    await otherTab.goTo(tab.link.pageUrl);
    expect(await canPay(otherTab)).toBe(true);
    await sendUnminedPayment(rig, tab);
    await blockStatusPolling(tab);
    await expectNoSecondPayment(tab);
    await otherTab.waitForText("Do not pay again");
    expect(await canPay(otherTab)).toBe(false);
  });

  test("is remembered if the wallet never responds, until the payer says that it is gone", async () => {
    const tab = await rig.createPayer({ toAmount: "25" });
    tab.wallet.setHandler("eth_sendTransaction", neverRespond);
    await tab.startPayment();
    await waitUntil(
      "the wallet receives the payment request",
      () => listPaymentRequests(tab.wallet).length === 1,
    );
    await expectNoSecondPayment(tab);
    await tab.waitForText("Your wallet has not reported a result.");
    await tab.click("My payment didn't go through");
    await tab.click("Keep waiting");
    expect(await canPay(tab)).toBe(false);
    await tab.click("My payment didn't go through");
    await tab.click("Allow new payment");
    tab.wallet.setHandler("eth_sendTransaction");
    await clickPay(tab);
    await tab.waitForText("Do not pay again. Transaction 0x");
    expect(listPaymentRequests(tab.wallet)).toHaveLength(2);
  });

  test("is not offered again if the wallet fails after sending it", async () => {
    const tab = await rig.createPayer({ toAmount: "25" });
    tab.wallet.setHandler("eth_sendTransaction", async (params) => {
      await tab.wallet.callMethod("eth_sendTransaction", params);
      throw new WalletError(-32603, "timeout");
    });
    await tab.startPayment("Your wallet has not reported a result.");
    await expectNoSecondPayment(tab);
  });

  test("that reverts can be paid again, and the page says why", async () => {
    const tab = await rig.createPayer({ toAmount: "25" });
    tab.wallet.setHandler("eth_getTransactionReceipt", () => ({ status: "0x0" }));
    await tab.startPayment("The network rejected your transaction. Nothing was paid.");
    expect(await canPay(tab)).toBe(true);
  });

  test("that another transaction replaced can be paid again, even after a reload", async () => {
    const tab = await rig.createPayer({ toAmount: "25" });
    const hash = await sendUnminedPayment(rig, tab);
    await tab.page.reload();
    expect(await canPay(tab)).toBe(false);
    await rig.chain.replace(`0x${hash.slice(2)}`);
    await rig.chain.mine(2);
    await tab.waitForText("Another transaction from your wallet replaced the payment.");
    expect(await canPay(tab)).toBe(true);
  });

  test("that was sped up is tracked under its new hash", async () => {
    const tab = await rig.createPayer({ toAmount: "25" });
    const hash = await sendUnminedPayment(rig, tab);
    const [originalPayment] = listPaymentRequests(tab.wallet);
    const sentTransaction = (await rig.chain.callRpc("eth_getTransactionByHash", [hash])) as {
      nonce: string;
    };
    const replacementHash = String(
      await rig.chain.callRpc("eth_sendTransaction", [
        {
          ...originalPayment,
          nonce: sentTransaction.nonce,
          maxFeePerGas: "0x2540be400",
          maxPriorityFeePerGas: "0x2540be400",
        },
      ]),
    );
    await rig.chain.mine(2);
    await tab.waitForText(`Transaction ${replacementHash}`);
    await expectNoSecondPayment(tab);
  });
});

describe("a sent allowance", () => {
  /** An account of the node that no other test file uses. */
  const account = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";

  test("is not a payment: after a reload it is not sent again, and the payment continues (rule CHAIN-13)", async () => {
    await rig.mint(account, 25n * baseUnitsPerToken);
    const tab = await rig.createPayer({ toAmount: "25", account });
    tab.wallet.setHandler("eth_sendTransaction", async (params) => {
      await rig.chain.callRpc("evm_setAutomine", [false]);
      return tab.wallet.callMethod("eth_sendTransaction", params);
    });
    await tab.startPayment("Approval sent. You have not paid yet.");
    await tab.page.reload();
    expect(await canPay(tab)).toBe(true);
    await clickPay(tab);
    await tab.waitForText("Approval sent. You have not paid yet.");
    tab.wallet.setHandler("eth_sendTransaction");
    await rig.chain.callRpc("evm_setAutomine", [true]);
    await rig.chain.mine();
    await tab.waitForText("Payment of 25 USDC detected. Do not pay again.");
    expect(tab.wallet.listSentTransactions()).toHaveLength(2);
    expect(listPaymentRequests(tab.wallet)).toHaveLength(1);
  });
});
