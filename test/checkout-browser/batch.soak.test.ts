import { afterAll, beforeAll, expect } from "@jest/globals";
import { needingChromium } from "../rig/find-chromium.ts";
import { type Payer, clickPay, paymentsOf } from "../rig/open-checkout.ts";
import { emptyAnswers, noBatchCodes, refusals, units, useBatches } from "../rig/use-batches.ts";
import { failWith } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

const {
  rig,
  allow,
  openPayer,
  payUnmined,
  expectNoSecondPayment,
  expectOneTransaction,
  expectToldWhy,
  expectOneAfterTheOther,
  expectNotOffered,
} = useBatches();

describe("a payer whose wallet carries out several calls as one", () => {
  test("(ready) allows and pays in one transaction, which settles", () =>
    expectOneTransaction("ready"));

  test("pays alone where the allowance stands already", async () => {
    await allow((25n * units).toString(16));
    const payer = await openPayer();
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect([paymentsOf(payer.wallet).length, payer.wallet.batches()]).toEqual([1, []]);
  });

  test.each(refusals.slice(1))("%s is told so, and may try again", (_who, method, answer, words) =>
    expectToldWhy(method, answer, words),
  );

  test.each(noBatchCodes.slice(1))(
    "that then cannot (%i) allows and pays one after the other",
    (code) => expectOneAfterTheOther(code),
  );

  test.each<[string, (payer: Payer) => void]>([
    [
      "says that it does not",
      ({ wallet }) =>
        wallet.decide("wallet_getCapabilities", () => ({
          "0x539": { atomic: { status: "unsupported" } },
        })),
    ],
    [
      "does so on another network only",
      ({ wallet }) =>
        wallet.decide("wallet_getCapabilities", () => ({
          "0x1": { atomic: { status: "supported" } },
        })),
    ],
    ["answers nonsense", ({ wallet }) => wallet.decide("wallet_getCapabilities", () => 7)],
  ])("but %s allows and pays one after the other", async (_what, decide) => {
    const payer = await openPayer();
    decide(payer);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again. Transaction 0x");
    expect([payer.wallet.sent().length, payer.wallet.batches()]).toEqual([2, []]);
  });
});

describe("a batch that a wallet was asked for, while nobody watches the chain (rule CHAIN-13)", () => {
  beforeAll(() => rig.system.stopWatchers());
  afterAll(() => rig.system.startWatcher());

  test.each(emptyAnswers.slice(1))("and %s is not offered again", (_what, answer) =>
    expectNotOffered(answer),
  );

  test("and that it has under the same name already is not offered again", async () => {
    const tab = await openPayer();
    tab.wallet.decide("wallet_sendCalls", failWith(5720));
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.see("Your wallet was asked for this payment");
    await expectNoSecondPayment(tab);
  });

  test("and whose place another transaction took can be paid again once the wallet says so", async () => {
    const tab = await openPayer();
    const [, hash] = await payUnmined(tab);
    await rig.chain.replace(hash);
    await rig.chain.mine(2);
    await expectNoSecondPayment(tab);
    tab.wallet.decide("wallet_getCallsStatus", ([id]) => ({ id, status: 400 }));
    await tab.see("Your payment failed: it is not on the chain. You can pay again.");
  });
});
