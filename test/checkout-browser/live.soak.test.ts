import { beforeEach, expect } from "@jest/globals";
import { needingChromium } from "../rig/find-chromium.ts";
import { openExpired, openPage, untilStreams } from "../rig/follow-link.ts";
import { mayPay } from "../rig/open-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = needingChromium();

const units = 1_000_000n;

const rig = useCheckout();
// Those of the test before.
beforeEach(() => untilStreams(rig, 0));

describe("a page that is left open (rule CHAIN-15)", () => {
  test("shows that it has expired, and a payment in time that settles after that", async () => {
    const expirationDate = new Date(Date.now() + 8_000).toISOString();
    const payer = await rig.openPayer({ toAmount: "25", expirationDate });
    // Before the page is opened, which takes a busy machine long: the payment must be in time.
    await rig.chain.pay({ ...payer.link, amount: 25n * units });
    const countLoads = await openPage(payer);
    await payer.see("This payment link has expired.");
    expect(await mayPay(payer)).toBe(false);
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(countLoads()).toBe(0);
  });

  test("that another version of the service answers by now is loaded with its own script", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    const countLoads = await openPage(payer);
    await payer.page.route(
      payer.link.pageUrl,
      async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace(/page\.css\?v=\w+/, "page.css?v=next");
        await route.fulfill({ response, body });
      },
      { times: 1 },
    );
    await rig.chain.pay({ ...payer.link, amount: 25n * units });
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(countLoads()).toBe(1);
  });
});

describe("a page that is opened once nothing can be paid there", () => {
  test("says that it is offline, and that it is back, with what happened meanwhile", async () => {
    const payer = await openExpired(rig);
    const countLoads = await openPage(payer);
    await untilStreams(rig, 1);
    await payer.person.context.setOffline(true);
    await payer.see("How this link stands cannot be read right now.");
    await rig.chain.mine(3);
    await rig.system.showWhen(payer.link.id, ({ status }) => status === "completed");
    await payer.person.context.setOffline(false);
    await payer.see("This payment link has been paid.");
    expect(await payer.text()).not.toContain("cannot be read right now");
    expect(countLoads()).toBe(0);
  });
});
