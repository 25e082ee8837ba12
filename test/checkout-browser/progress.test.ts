import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { type Payer, clickPay, listPaymentRequests } from "../rig/create-checkout.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { failWith } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const rig = useCheckout();

/** Returns the current step, or undefined if the page shows no steps. */
const readCurrentStep = async ({ page }: Pick<Payer, "page">): Promise<string | undefined> => {
  const step = page.getByRole("listitem").and(page.locator("[aria-current=step]"));
  return (await step.count()) === 0 ? undefined : (await step.innerText()).trim();
};

const waitForStep = (payer: Payer, expectedStep: string): Promise<true> =>
  waitUntil(expectedStep, async () => (await readCurrentStep(payer)) === expectedStep);

const countOptions = ({ page }: Pick<Payer, "page">): Promise<number> =>
  page.getByRole("radio").filter({ visible: true }).count();

/** Makes a wallet respond to a method only when the returned function is called. */
const holdResponse = ({ wallet }: Payer, method: string): (() => void) => {
  const response = Promise.withResolvers<undefined>();
  wallet.setHandler(method, async (params) => {
    await response.promise;
    return wallet.callMethod(method, params);
  });
  return () => response.resolve(undefined);
};

describe("the steps of a payment", () => {
  test("are shown one after the other, without other ways to pay", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await rig.chain.callRpc("evm_setAutomine", [false]);
    await payer.open("Pay 25 USDC");
    expect(await readCurrentStep(payer)).toBeUndefined();
    expect(await countOptions(payer)).toBe(3);
    const confirm = holdResponse(payer, "eth_sendTransaction");
    await clickPay(payer);
    await waitUntil(
      "the wallet receives the payment request",
      () => listPaymentRequests(payer.wallet).length === 1,
    );
    await waitForStep(payer, "Confirm in wallet");
    expect(await countOptions(payer)).toBe(0);
    expect(await findAxeViolations(payer.page)).toEqual([]);
    confirm();
    await waitForStep(payer, "Sent");
    expect(await countOptions(payer)).toBe(0);
    await rig.chain.callRpc("evm_setAutomine", [true]);
    await rig.chain.mine();
    await waitUntil("the confirmations are known", async () =>
      /^Confirming \(\d of 2\)$/.test((await readCurrentStep(payer)) ?? ""),
    );
    expect(await countOptions(payer)).toBe(0);
    expect(await findAxeViolations(payer.page)).toEqual([]);
    await rig.chain.mine(3);
    const result = payer.page.getByRole("heading", { name: /^25 USDC paid to / });
    await result.waitFor();
    expect(await readCurrentStep(payer)).toBeUndefined();
    // The focus makes screen readers read the result aloud.
    expect(await result.evaluate((element) => element.matches(":focus"))).toBe(true);
  });

  test("end when the wallet rejects the payment, and the pay button has the focus again", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    payer.wallet.setHandler("eth_sendTransaction", failWith(4001));
    await payer.startPayment("You rejected the request.");
    expect(await readCurrentStep(payer)).toBeUndefined();
    expect(await countOptions(payer)).toBe(3);
    const focusedText = await payer.page.evaluate<string>("document.activeElement.innerText");
    expect(focusedText).toContain("Pay 25 USDC");
  });

  test("can be left while the wallet connects, because nothing has been sent", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    holdResponse(payer, "eth_requestAccounts");
    await payer.startPayment("Approve the connection in your wallet.");
    await waitForStep(payer, "Confirm in wallet");
    // The page reloads, and its script must run before a choice.
    await Promise.all([payer.page.waitForEvent("load"), payer.click("Change payment method")]);
    await payer.page.getByRole("radio", { name: "QR code" }).check();
    expect(await countOptions(payer)).toBe(3);
    expect(listPaymentRequests(payer.wallet)).toEqual([]);
  });
});

describe("a paid link", () => {
  test("shows the amount, the seller and the time, and leads to the receipt and back to the shop (rule API-39)", async () => {
    const payer = await rig.createPayer({
      toAmount: "25",
      owner: { username: "Rosehip Tea Co.", returnUrl: "https://shop.test/thanks?order=7" },
    });
    await rig.chain.pay({ ...payer.link, amount: 25_000_000n });
    await rig.chain.mine(3);
    await rig.system.waitForLink(payer.link.id, ({ status }) => status === "completed");
    await payer.open("25 USDC paid to Rosehip Tea Co.");
    expect(await payer.page.locator("time").first().getAttribute("datetime")).toMatch(/^\d{4}-/);
    expect(await payer.page.getByRole("link", { name: "View receipt" }).isVisible()).toBe(true);
    const returnLink = payer.page.getByRole("link", { name: "Return to shop" });
    expect(await returnLink.getAttribute("href")).toBe(
      `https://shop.test/thanks?order=7&payment_link=${payer.link.id}`,
    );
  });
});
