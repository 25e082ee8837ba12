import { afterAll, beforeAll, expect } from "@jest/globals";
import { requireChromium } from "../rig/require-chromium.ts";
import { type Payer, clickPay, listPaymentRequests } from "../rig/create-checkout.ts";
import {
  emptyStatusResponses,
  noBatchCodes,
  walletRejections,
  baseUnitsPerToken,
  useBatches,
} from "../rig/use-batches.ts";
import { failWith } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const {
  rig,
  approveAllowance,
  createPayer,
  sendUnminedBatch,
  expectNoSecondPayment,
  expectOneTransaction,
  expectRejectionExplained,
  expectSequentialPayments,
  expectPaymentNotOffered,
} = useBatches();

describe("an atomic batch payment", () => {
  test("approves and pays in one transaction, which settles (capability: ready)", () =>
    expectOneTransaction("ready"));

  test("becomes a single payment if the allowance already exists", async () => {
    await approveAllowance((25n * baseUnitsPerToken).toString(16));
    const payer = await createPayer();
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
    expect([listPaymentRequests(payer.wallet).length, payer.wallet.listBatches()]).toEqual([1, []]);
  });

  test.each(walletRejections.slice(1))(
    "by a payer %s shows the reason and can be retried",
    (_case, method, walletResponse, expectedText) =>
      expectRejectionExplained(method, walletResponse, expectedText),
  );

  test.each(noBatchCodes.slice(1))(
    "falls back to two transactions if the wallet rejects the batch with %i",
    (code) => expectSequentialPayments(code),
  );

  test.each<[string, (payer: Payer) => void]>([
    [
      "reports no support",
      ({ wallet }) =>
        wallet.setHandler("wallet_getCapabilities", () => ({
          "0x539": { atomic: { status: "unsupported" } },
        })),
    ],
    [
      "supports batches only on another network",
      ({ wallet }) =>
        wallet.setHandler("wallet_getCapabilities", () => ({
          "0x1": { atomic: { status: "supported" } },
        })),
    ],
    [
      "returns invalid capabilities",
      ({ wallet }) => wallet.setHandler("wallet_getCapabilities", () => 7),
    ],
  ])("falls back to two transactions if the wallet %s", async (_case, applyCapabilities) => {
    const payer = await createPayer();
    applyCapabilities(payer);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText("Do not pay again. Transaction 0x");
    expect([payer.wallet.listSentTransactions().length, payer.wallet.listBatches()]).toEqual([
      2,
      [],
    ]);
  });
});

describe("a requested batch while no watcher runs (rule CHAIN-13)", () => {
  beforeAll(() => rig.system.stopWatchers());
  afterAll(() => rig.system.startWatcher());

  test.each(emptyStatusResponses.slice(1))(
    "is not offered again without a usable status: %s",
    (_case, walletResponse) => expectPaymentNotOffered(walletResponse),
  );

  test("is not offered again if the wallet already has a batch with the same id", async () => {
    const tab = await createPayer();
    tab.wallet.setHandler("wallet_sendCalls", failWith(5720));
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.waitForText("Your wallet has not reported a result.");
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
