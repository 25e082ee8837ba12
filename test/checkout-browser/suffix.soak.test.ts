import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { requireChromium } from "../rig/require-chromium.ts";
import { clickPay, canPay, listPaymentRequests } from "../rig/create-checkout.ts";
import { walletRejections, useTransfers } from "../rig/use-transfers.ts";
import { failWith, neverRespond } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const { rig, createPayer, expectPaymentKinds, expectRejectionExplained } = useTransfers();

describe("a payer whose wallet has no batches", () => {
  test.each(walletRejections.slice(1))(
    "whose wallet rejects with %i sees the reason, and the page reports no payment",
    (code, expectedText) => expectRejectionExplained(code, expectedText),
  );

  test("whose wallet never responds is not offered a second payment", async () => {
    const tab = await createPayer();
    tab.wallet.setHandler("eth_sendTransaction", neverRespond);
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await waitUntil(
      "the wallet receives the request",
      () => listPaymentRequests(tab.wallet).length === 1,
    );
    await tab.page.reload();
    await tab.waitForText("Your wallet has not reported a result.");
    expect(await canPay(tab)).toBe(false);
  });
});

describe("the page chooses the first way that the wallet supports:", () => {
  test("two steps if nothing reports whether the account has code", async () => {
    const payer = await createPayer();
    payer.wallet.setHandler("eth_getCode", failWith(-32601));
    await expectPaymentKinds(payer, ["by contract", "by contract"]);
  });

  test("one payment through the contract if the allowance already exists", async () => {
    const payer = await createPayer({ account: rig.chain.payers[0] });
    await expectPaymentKinds(payer, ["by contract"]);
  });
});
