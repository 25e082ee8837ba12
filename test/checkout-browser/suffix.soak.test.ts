import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingChromium } from "../rig/find-chromium.ts";
import { clickPay, mayPay, paymentsOf } from "../rig/open-checkout.ts";
import { refusals, useTransfers } from "../rig/use-transfers.ts";
import { failWith, never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

const { rig, openPayer, expectKinds, expectToldWhy } = useTransfers();

describe("a payer whose wallet makes no batches", () => {
  test.each(refusals.slice(1))(
    "and refuses (%i) is told so, and nothing is said to have happened",
    (code, words) => expectToldWhy(code, words),
  );

  test("and never told of it is not offered another", async () => {
    const tab = await openPayer();
    tab.wallet.decide("eth_sendTransaction", never);
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await waitUntil("the wallet is asked", () => paymentsOf(tab.wallet).length === 1);
    await tab.page.reload();
    await tab.see("Your wallet was asked for this payment");
    expect(await mayPay(tab)).toBe(false);
  });
});

describe("the first way that a wallet can go is asked for:", () => {
  test("two steps, where nobody says whether it has", async () => {
    const payer = await openPayer();
    payer.wallet.decide("eth_getCode", failWith(-32601));
    await expectKinds(payer, ["by contract", "by contract"]);
  });

  test("one payment through the contract, where the allowance stands already", async () => {
    const payer = await openPayer({ account: rig.chain.payers[0] });
    await expectKinds(payer, ["by contract"]);
  });
});
