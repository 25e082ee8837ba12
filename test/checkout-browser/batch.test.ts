import { afterEach, beforeEach, expect, afterAll, beforeAll } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  type Payer,
  clickPay,
  countPaymentRequests,
  canPay,
  listPaymentRequests,
  blockStatusPolling,
} from "../rig/create-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { type WalletMethodHandler, failWith, neverRespond, WalletError } from "../rig/wallet.ts";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";

const { describe, describeSoak, test } = requireChromium();

/** An account of the node. Before each test, it has tokens and a zero allowance. */
const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const baseUnitsPerToken = 1_000_000n;

/**
 * Cases in which the page explains why the payment failed: title, wallet method, the wallet's
 * response, and the page's text.
 */
const walletRejections: [string, string, WalletMethodHandler, string][] = [
  [
    "who declines",
    "wallet_sendCalls",
    failWith(4001),
    "You rejected the request. Nothing was paid. You can try again.",
  ],
  [
    "whose wallet does not authorize the page",
    "wallet_sendCalls",
    failWith(4100),
    "Your wallet isn't connected to this page. Unlock it, allow the connection and try again.",
  ],
  [
    "whose wallet cannot reach the chain",
    "eth_estimateGas",
    failWith(-32603),
    "Your wallet can't reach Local devnet. Nothing was paid. Try again in a moment.",
  ],
  [
    "whose payment the token's contract rejects",
    "eth_estimateGas",
    failWith(3, "execution reverted"),
    "Nothing was paid. Switch accounts or ask the seller how to pay.",
  ],
];

/** The error codes by which a wallet reports that it does not support batches. */
const noBatchCodes = [-32601, 4200, 5700, 5710, 5740, 5750, 5760];

/** Responses to `wallet_getCallsStatus` that reveal nothing about a batch. */
const emptyStatusResponses: [string, WalletMethodHandler][] = [
  ["the wallet does not know the batch", failWith(5730)],
  ["the wallet's node fails", failWith(-32603)],
  ["the wallet never responds", neverRespond],
  ["the wallet returns an invalid status", () => ({ status: "PENDING" })],
];

const rig = useCheckout();

beforeEach(async () => {
  await rig.mint(account, 25n * baseUnitsPerToken);
  await rig.approve(account, 0n);
});
afterEach(async () => {
  await rig.chain.callRpc("evm_setAutomine", [true]);
  await rig.chain.mine();
});

const createPayer = (batching: "supported" | "ready" = "supported") =>
  rig.createPayer({ toAmount: "25", account, batching });

/**
 * Expects that the payer cannot pay, even after a reload, and that the wallet was asked only
 * once.
 */
const expectNoSecondPayment = async (tab: Payer): Promise<void> => {
  expect(await canPay(tab)).toBe(false);
  expect(await tab.readText()).not.toMatch(/nothing was paid/i);
  await tab.page.reload();
  await tab.waitForText("o not pay again");
  expect(await canPay(tab)).toBe(false);
  expect(countPaymentRequests(tab)).toBe(1);
};

/** Sends a batch that stays unmined. Returns its ID and its transaction hash. */
const sendUnminedBatch = async (tab: Payer): Promise<[string, `0x${string}`]> => {
  tab.wallet.setHandler("wallet_sendCalls", async (params) => {
    await rig.chain.callRpc("evm_setAutomine", [false]);
    return tab.wallet.callMethod("wallet_sendCalls", params);
  });
  await tab.startPayment("Your wallet accepted the payment.");
  const [[id, hash] = ["", ""]] = tab.wallet.batchHashes;
  return [id, `0x${hash.slice(2)}`];
};

describe("an atomic batch payment", () => {
  test.each(sampleCases(["supported", "ready"] as const, (status) => status === "supported"))(
    "approves and pays in one transaction, which settles (capability: %s)",
    async (batching) => {
      const payer = await createPayer(batching);
      await payer.open();
      const url = `${rig.system.publicUrl}/checkout/payment-links/${payer.link.id}`;
      const { instructions } = (await (await fetch(url)).json()) as {
        instructions: { steps: { to: string; data: string }[] };
      };
      await clickPay(payer);
      await payer.waitForText("Payment of 25 USDC detected.");
      expect(payer.wallet.listSentTransactions()).toEqual([]);
      expect(payer.wallet.listBatches()).toEqual([
        {
          version: "2.0.0",
          id: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          from: account,
          chainId: "0x539",
          atomicRequired: true,
          calls: instructions.steps.map(({ to, data }) => ({ to, data, value: "0x0" })),
        },
      ]);
      await rig.chain.mine(3);
      await payer.waitForText("Payment complete");
    },
  );

  test.each(sampleCases(walletRejections, (_rejection, index) => index === 0))(
    "by a payer %s shows the reason and can be retried",
    async (_case, method, walletResponse, expectedText) => {
      const payer = await createPayer();
      payer.wallet.setHandler(method, walletResponse);
      await payer.startPayment(expectedText);
      expect(await canPay(payer)).toBe(true);
      expect(payer.wallet.listSentTransactions()).toEqual([]);
    },
  );

  test.each(sampleCases(noBatchCodes, (_code, index) => index === 0))(
    "falls back to two transactions if the wallet rejects the batch with %i",
    async (code) => {
      const payer = await createPayer();
      payer.wallet.setHandler("wallet_sendCalls", failWith(code));
      await payer.startPayment("Payment of 25 USDC detected. Do not pay again.");
      expect(payer.wallet.listSentTransactions()).toHaveLength(2);
      expect(listPaymentRequests(payer.wallet)).toHaveLength(1);
    },
  );
});

describeSoak("an atomic batch payment", () => {
  test("becomes a single payment if the allowance already exists", async () => {
    await rig.approve(account, 25n * baseUnitsPerToken);
    const payer = await createPayer();
    await payer.startPayment("Do not pay again");
    expect([listPaymentRequests(payer.wallet).length, payer.wallet.listBatches()]).toEqual([1, []]);
  });
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
    await tab.startPayment();
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
    await tab.startPayment("Do not pay again. Transaction 0x");
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
    await tab.startPayment();
    await tab.waitForText("In a block. Waiting for confirmation. Do not pay again. Transaction 0x");
    expect([wallet.listBatches().length, wallet.listSentTransactions()]).toEqual([1, []]);
    await expectNoSecondPayment(tab);
  });

  test.each(sampleCases(emptyStatusResponses, (_response, index) => index === 0))(
    "is not offered again without a usable status: %s",
    async (_case, walletResponse) => {
      const tab = await createPayer();
      let requestCount = 0;
      tab.wallet.setHandler("wallet_getCallsStatus", (params) => {
        requestCount += 1;
        return walletResponse(params);
      });
      await tab.startPayment();
      await waitUntil("the page requests the batch's status", () => requestCount > 0);
      await expectNoSecondPayment(tab);
    },
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

describeSoak("a requested batch while no watcher runs (rule CHAIN-13)", () => {
  beforeAll(() => rig.system.stopWatchers());
  afterAll(() => rig.system.startWatcher());

  test("is not offered again if the wallet already has a batch with the same id", async () => {
    const tab = await createPayer();
    tab.wallet.setHandler("wallet_sendCalls", failWith(5720));
    await tab.startPayment("Your wallet has not reported a result.");
    await expectNoSecondPayment(tab);
  });

  test("can be paid again after another transaction replaced it and the wallet reports this", async () => {
    const tab = await createPayer();
    const [, hash] = await sendUnminedBatch(tab);
    await rig.chain.replace(hash);
    await rig.chain.mine(2);
    await expectNoSecondPayment(tab);
    tab.wallet.setHandler("wallet_getCallsStatus", ([id]) => ({ id, status: 400 }));
    await tab.waitForText("Your payment failed. Nothing was paid. You can pay again.");
  });
});
