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

describe("a payer whose wallet carries out several calls as one", () => {
  test("(ready) allows and pays in one transaction, which settles", () =>
    expectOneTransaction("ready"));

  test("pays alone where the allowance stands already", async () => {
    await approveAllowance((25n * baseUnitsPerToken).toString(16));
    const payer = await createPayer();
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
    expect([listPaymentRequests(payer.wallet).length, payer.wallet.listBatches()]).toEqual([1, []]);
  });

  test.each(walletRejections.slice(1))(
    "%s is told so, and may try again",
    (_case, method, walletResponse, expectedText) =>
      expectRejectionExplained(method, walletResponse, expectedText),
  );

  test.each(noBatchCodes.slice(1))(
    "that then cannot (%i) allows and pays one after the other",
    (code) => expectSequentialPayments(code),
  );

  test.each<[string, (payer: Payer) => void]>([
    [
      "says that it does not",
      ({ wallet }) =>
        wallet.setHandler("wallet_getCapabilities", () => ({
          "0x539": { atomic: { status: "unsupported" } },
        })),
    ],
    [
      "does so on another network only",
      ({ wallet }) =>
        wallet.setHandler("wallet_getCapabilities", () => ({
          "0x1": { atomic: { status: "supported" } },
        })),
    ],
    ["answers nonsense", ({ wallet }) => wallet.setHandler("wallet_getCapabilities", () => 7)],
  ])("but %s allows and pays one after the other", async (_case, applyCapabilities) => {
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

describe("a batch that a wallet was asked for, while nobody watches the chain (rule CHAIN-13)", () => {
  beforeAll(() => rig.system.stopWatchers());
  afterAll(() => rig.system.startWatcher());

  test.each(emptyStatusResponses.slice(1))("and %s is not offered again", (_case, walletResponse) =>
    expectPaymentNotOffered(walletResponse),
  );

  test("and that it has under the same name already is not offered again", async () => {
    const tab = await createPayer();
    tab.wallet.setHandler("wallet_sendCalls", failWith(5720));
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.waitForText("Your wallet was asked for this payment");
    await expectNoSecondPayment(tab);
  });

  test("and whose place another transaction took can be paid again once the wallet says so", async () => {
    const tab = await createPayer();
    const [, hash] = await sendUnminedBatch(tab);
    await rig.chain.replace(hash);
    await rig.chain.mine(2);
    await expectNoSecondPayment(tab);
    tab.wallet.setHandler("wallet_getCallsStatus", ([id]) => ({ id, status: 400 }));
    await tab.waitForText("Your payment failed: it is not on the chain. You can pay again.");
  });
});
