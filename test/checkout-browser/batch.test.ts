import { afterAll, beforeAll, expect } from "@jest/globals";
import { requireChromium } from "../rig/require-chromium.ts";
import {
  clickPay,
  countPaymentRequests,
  blockStatusPolling,
  canPay,
} from "../rig/create-checkout.ts";
import {
  account,
  emptyStatusResponses,
  noBatchCodes,
  walletRejections,
  useBatches,
} from "../rig/use-batches.ts";
import { WalletError, neverRespond } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const {
  rig,
  createPayer,
  sendUnminedBatch,
  expectNoSecondPayment,
  expectOneTransaction,
  expectRejectionExplained,
  expectSequentialPayments,
  expectPaymentNotOffered,
} = useBatches();

describe("an atomic batch payment", () => {
  test("approves and pays in one transaction, which settles (capability: supported)", () =>
    expectOneTransaction("supported"));

  test.each(walletRejections.slice(0, 1))(
    "by a payer %s shows the reason and can be retried",
    (_case, method, walletResponse, expectedText) =>
      expectRejectionExplained(method, walletResponse, expectedText),
  );

  test.each(noBatchCodes.slice(0, 1))(
    "falls back to two transactions if the wallet rejects the batch with %i",
    (code) => expectSequentialPayments(code),
  );
});

describe("a requested batch while no watcher runs (rule CHAIN-13)", () => {
  beforeAll(() => rig.system.stopWatchers());
  afterAll(() => rig.system.startWatcher());

  test("is remembered if the wallet never responds, until the payer says that it is gone", async () => {
    const tab = await createPayer();
    const otherTab = await tab.user.openTab();
    await otherTab.goTo(tab.link.pageUrl);
    expect(await canPay(otherTab)).toBe(true);
    tab.wallet.setHandler("wallet_sendCalls", neverRespond);
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await otherTab.waitForText("Your wallet has not reported a result.");
    expect(await canPay(otherTab)).toBe(false);
    await expectNoSecondPayment(tab);
    await tab.click("My payment didn't go through");
    await tab.click("Allow new payment");
    tab.wallet.setHandler("wallet_sendCalls");
    await clickPay(tab);
    await tab.waitForText("Do not pay again. Transaction 0x");
    expect(countPaymentRequests(tab)).toBe(2);
  });

  test("is remembered after a reload and in another tab, with its transaction once that exists", async () => {
    const tab = await createPayer();
    const otherTab = await tab.user.openTab();
    await otherTab.goTo(tab.link.pageUrl);
    const [, hash] = await sendUnminedBatch(tab);
    await otherTab.waitForText("Do not pay again");
    expect(await canPay(otherTab)).toBe(false);
    await expectNoSecondPayment(tab);
    await rig.chain.mine();
    await tab.waitForText(
      `In a block. Waiting for confirmation. Do not pay again. Transaction ${hash}`,
    );
    await blockStatusPolling(tab);
    await expectNoSecondPayment(tab);
  });

  test("is found by its own id after the wallet fails", async () => {
    const tab = await createPayer();
    tab.wallet.setHandler("wallet_sendCalls", async (params) => {
      await tab.wallet.callMethod("wallet_sendCalls", params);
      throw new WalletError(-32603, "timeout");
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.waitForText("Do not pay again. Transaction 0x");
    await expectNoSecondPayment(tab);
  });

  test("is tracked by the wallet's id if the wallet uses the older form (rule CALLER-32)", async () => {
    const tab = await createPayer();
    const { wallet } = tab;
    const batchIdsByWalletId = new Map<unknown, string>();
    wallet.setHandler("wallet_getCapabilities", () => ({
      "0x0539": { atomicBatch: { supported: true } },
    }));
    wallet.setHandler("wallet_sendCalls", async (params) => {
      const { id } = (await wallet.callMethod("wallet_sendCalls", params)) as { id: string };
      batchIdsByWalletId.set("the wallet's own id", id);
      return "the wallet's own id";
    });
    wallet.setHandler("wallet_getCallsStatus", async ([id]) => {
      const batchId = batchIdsByWalletId.get(id);
      if (batchId === undefined) throw new WalletError(-32603, "unknown");
      const { receipts } = (await wallet.callMethod("wallet_getCallsStatus", [batchId])) as {
        receipts?: unknown;
      };
      return { status: receipts === undefined ? "PENDING" : "CONFIRMED", receipts };
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.waitForText("In a block. Waiting for confirmation. Do not pay again. Transaction 0x");
    expect([wallet.listBatches().length, wallet.listSentTransactions()]).toEqual([1, []]);
    await expectNoSecondPayment(tab);
  });

  test.each(emptyStatusResponses.slice(0, 1))(
    "is not offered again without a usable status: %s",
    (_case, walletResponse) => expectPaymentNotOffered(walletResponse),
  );

  test.each([
    [400, "Your payment failed. Nothing was paid. You can pay again."],
    [500, "The network rejected your transaction. Nothing was paid. You can pay again."],
  ])(
    "can be paid again after the wallet reports status %i, and the page says why",
    async (status, expectedText) => {
      const tab = await createPayer();
      await sendUnminedBatch(tab);
      await tab.page.reload();
      expect(await canPay(tab)).toBe(false);
      tab.wallet.setHandler("wallet_getCallsStatus", ([id]) => ({ id, status }));
      await tab.waitForText(expectedText);
      expect(await canPay(tab)).toBe(true);
    },
  );

  test("that was partly executed can be paid again only if its last call was not executed", async () => {
    const tab = await createPayer();
    const [, hash] = await sendUnminedBatch(tab);
    const reportReceipt = (status: string) =>
      tab.wallet.setHandler("wallet_getCallsStatus", () => ({
        status: 600,
        receipts: [{ transactionHash: hash, status }],
      }));
    reportReceipt("0x1");
    await tab.waitForText(`Do not pay again. Transaction ${hash}`);
    expect(await canPay(tab)).toBe(false);
    reportReceipt("0x0");
    await tab.waitForText("The network rejected your transaction. Nothing was paid.");
    expect(await canPay(tab)).toBe(true);
  });

  test("that was sped up is tracked under its new hash, even if the original was in a block", async () => {
    const tab = await createPayer();
    const [id, hash] = await sendUnminedBatch(tab);
    tab.wallet.setHandler("wallet_getCallsStatus", () => ({
      status: 200,
      receipts: [{ transactionHash: hash, status: "0x1" }],
    }));
    await tab.waitForText(`Transaction ${hash}`);
    tab.wallet.setHandler("wallet_getCallsStatus");
    const sentTransaction = (await rig.chain.callRpc("eth_getTransactionByHash", [hash])) as {
      nonce: string;
      input: string;
      gas: string;
    };
    const replacementHash = String(
      await rig.chain.callRpc("eth_sendTransaction", [
        {
          from: account,
          to: account,
          data: sentTransaction.input,
          gas: sentTransaction.gas,
          nonce: sentTransaction.nonce,
          maxFeePerGas: "0x2540be400",
          maxPriorityFeePerGas: "0x2540be400",
        },
      ]),
    );
    tab.wallet.batchHashes.set(id, replacementHash);
    await rig.chain.mine(2);
    await tab.waitForText(`Transaction ${replacementHash}`);
    await expectNoSecondPayment(tab);
  });
});
