import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { requireChromium } from "../rig/require-chromium.ts";
import { clickPay, canPay, listPaymentRequests } from "../rig/create-checkout.ts";
import { walletRejections, useTransfers } from "../rig/use-transfers.ts";
import { failWith, neverRespond } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const { rig, createPayer, expectPaymentKinds, expectRejectionExplained } = useTransfers();

describe("a payer whose wallet makes no batches", () => {
  test.each(walletRejections.slice(1))(
    "and refuses (%i) is told so, and nothing is said to have happened",
    (code, expectedText) => expectRejectionExplained(code, expectedText),
  );

  test("and never told of it is not offered another", async () => {
    const tab = await createPayer();
    tab.wallet.setHandler("eth_sendTransaction", neverRespond);
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await waitUntil("the wallet is asked", () => listPaymentRequests(tab.wallet).length === 1);
    await tab.page.reload();
    await tab.waitForText("Your wallet was asked for this payment");
    expect(await canPay(tab)).toBe(false);
  });
});

describe("the first way that a wallet can go is asked for:", () => {
  test("two steps, where nobody says whether it has", async () => {
    const payer = await createPayer();
    payer.wallet.setHandler("eth_getCode", failWith(-32601));
    await expectPaymentKinds(payer, ["by contract", "by contract"]);
  });

  test("one payment through the contract, where the allowance stands already", async () => {
    const payer = await createPayer({ account: rig.chain.payers[0] });
    await expectPaymentKinds(payer, ["by contract"]);
  });
});
