import { beforeEach, expect } from "@jest/globals";
import { requireChromium } from "../rig/require-chromium.ts";
import { openExpiredLink, openLinkPage, waitForStreams } from "../rig/follow-link.ts";
import { canPay } from "../rig/create-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const baseUnitsPerToken = 1_000_000n;

const rig = useCheckout();
// Waits until the streams of the previous test have ended.
beforeEach(() => waitForStreams(rig, 0));

describe("an open page (rule CHAIN-15)", () => {
  test("shows its expiry, and then a payment that was in time and settles later", async () => {
    const expirationDate = new Date(Date.now() + 8_000).toISOString();
    const payer = await rig.createPayer({ toAmount: "25", expirationDate });
    // Pays before the page opens, because the page opens slowly on a busy machine and the payment
    // must be in time.
    await rig.chain.pay({ ...payer.link, amount: 25n * baseUnitsPerToken });
    const countLoads = await openLinkPage(payer);
    await payer.waitForText("This payment link has expired.");
    expect(await canPay(payer)).toBe(false);
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(countLoads()).toBe(0);
  });

  test("reloads with the new script after a deployment of another version", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const countLoads = await openLinkPage(payer);
    await payer.page.route(
      payer.link.pageUrl,
      async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace(/page\.css\?v=\w+/, "page.css?v=next");
        await route.fulfill({ response, body });
      },
      { times: 1 },
    );
    await rig.chain.pay({ ...payer.link, amount: 25n * baseUnitsPerToken });
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(countLoads()).toBe(1);
  });
});

describe("a page that opens when its link can no longer be paid", () => {
  test("shows when it is offline and when it is back, including what happened in between", async () => {
    const payer = await openExpiredLink(rig);
    const countLoads = await openLinkPage(payer);
    await waitForStreams(rig, 1);
    await payer.user.context.setOffline(true);
    await payer.waitForText("Can't update. Reconnecting…");
    await rig.chain.mine(3);
    await rig.system.waitForLink(payer.link.id, ({ status }) => status === "completed");
    await payer.user.context.setOffline(false);
    await payer.waitForText("Payment complete");
    expect(await payer.readText()).not.toContain("Can't update");
    expect(countLoads()).toBe(0);
  });
});
