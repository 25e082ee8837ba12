import { expect } from "@jest/globals";
import { expectNothingPaid } from "../rig/evm-refusals.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { clickPay, paymentsOf } from "../rig/open-checkout.ts";
import { readInPage } from "../rig/read-in-page.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = needingChromium();

const rig = useCheckout();

describe("a wallet that reads the chain from within the page", () => {
  test("pays, as the page's policy allows the nodes that the catalogue names for the chain", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    await readInPage(payer, rig.chain.url);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("A payment of 25 USDC was seen and is being confirmed. Do not pay again.");
    const requests = payer.person.faults.splice(0);
    const { origin } = new URL(rig.chain.url);
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.filter((request) => !request.startsWith(`wanted ${origin}/`))).toEqual([]);
  });

  test("is blocked at any other node, and its payer is told which ways still work", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    await readInPage(payer, "https://node.test/");
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await expectNothingPaid(
      rig,
      payer,
      "Your wallet reads Local devnet at a node that this page does not allow. Nothing was paid; " +
        "open this page in another wallet, or pay by hand with what is under Details.",
    );
    expect(paymentsOf(payer.wallet)).toEqual([]);
    const blocked = payer.person.faults.splice(0);
    expect(new Set(blocked)).toEqual(new Set(["connect-src https://node.test/"]));
  });
});
