import { expect } from "@jest/globals";
import { expectNothingPaid } from "../rig/wallet-rejections.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { listPaymentRequests } from "../rig/create-checkout.ts";
import { readChainFromPage } from "../rig/read-in-page.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const rig = useCheckout();

describe("a wallet that reads the chain from within the page", () => {
  test("pays, because the page's policy allows the nodes that the catalogue lists for the chain", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await readChainFromPage(payer, rig.chain.url);
    await payer.startPayment("Payment of 25 USDC detected. Do not pay again.");
    // An open page keeps reading the chain.
    await payer.page.close();
    const nodeRequests = payer.user.violations.splice(0);
    const { origin } = new URL(rig.chain.url);
    expect(nodeRequests.length).toBeGreaterThan(0);
    expect(
      nodeRequests.filter((nodeRequest) => !nodeRequest.startsWith(`wanted ${origin}/`)),
    ).toEqual([]);
  });

  test("is blocked at any other node, and the payer sees the ways that still work", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await readChainFromPage(payer, "https://node.test/");
    await payer.startPayment();
    await expectNothingPaid(
      rig,
      payer,
      "Your wallet connects to Local devnet through a server that this page doesn't allow. Nothing was " +
        "paid. Use another wallet or pay manually under Advanced.",
    );
    expect(listPaymentRequests(payer.wallet)).toEqual([]);
    await payer.page.close();
    const blockedRequests = payer.user.violations.splice(0);
    expect(new Set(blockedRequests)).toEqual(new Set(["connect-src https://node.test/"]));
  });
});
