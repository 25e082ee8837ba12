import { expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { requireChromium } from "../rig/require-chromium.ts";
import { type Payer, clickPay } from "../rig/create-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const baseUnitsPerToken = 1_000_000n;

const rig = useCheckout();

/** Lists the visible parts of the page with which a visitor could pay or report a problem. */
const listInvitations = async ({ page }: Pick<Payer, "page">): Promise<string[]> => {
  const isOpen = (await page.locator("#details").getAttribute("open")) !== null;
  if (!isOpen) await page.getByText("Advanced", { exact: true }).click();
  const parts = {
    "pay button": page.getByRole("button", { name: /^Pay / }),
    "payment options": page.getByRole("radio", { name: "Exchange" }),
    "QR code": page.locator("figure.qr"),
    "manual payment": page.getByText("Payment contract", { exact: true }),
    "report a problem": page.getByRole("button", { name: "My payment didn't go through" }),
  };
  const visibilities = await Promise.all(
    Object.entries(parts).map(async ([name, part]) =>
      (await part.filter({ visible: true }).count()) > 0 ? [name] : [],
    ),
  );
  return visibilities.flat();
};

/** Opens a link's page in another browser, without a wallet. */
const openAsVisitor = async ({ link }: Payer) => {
  const tab = await (await rig.createUser({})).openTab();
  // The script opens the event stream after it has rendered the state.
  const isRendered = tab.page.waitForRequest("**/events*");
  await tab.goTo(link.pageUrl);
  await isRendered;
  return tab;
};

const openWithoutScript = async ({ link }: Payer) => {
  const tab = await (await rig.createUser({ javaScriptEnabled: false })).openTab();
  await tab.goTo(link.pageUrl);
  return tab;
};

describe("while a pending payment covers the rest", () => {
  test("the page invites no other payment, and only the sender can report a problem", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await payer.goTo(payer.link.pageUrl);
    const visitor = await openAsVisitor(payer);
    expect(await listInvitations(visitor)).toEqual([
      "payment options",
      "QR code",
      "manual payment",
    ]);
    await clickPay(payer);
    for (const tab of [payer, visitor]) await tab.waitForText("Payment of 25 USDC detected.");
    expect(await listInvitations(payer)).toEqual(["report a problem"]);
    expect(await listInvitations(visitor)).toEqual([]);
    const laterVisitor = await openAsVisitor(payer);
    expect(await listInvitations(laterVisitor)).toEqual([]);
    const visitorWithoutScript = await openWithoutScript(payer);
    expect(await listInvitations(visitorWithoutScript)).toEqual([]);
    await rig.chain.mine(3);
    await visitor.waitForText("Payment complete");
  });

  test("a sender who reports that it failed can pay again", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText("Payment of 25 USDC detected.");
    await payer.click("My payment didn't go through");
    await payer.click("Allow new payment");
    await payer.page.getByRole("button", { name: /^Pay / }).waitFor();
    expect(await listInvitations(payer)).toEqual([
      "pay button",
      "payment options",
      "manual payment",
    ]);
    await rig.chain.mine(3);
  });
});

test("while a pending payment covers only a part, the page still offers to pay the rest", async () => {
  const payer = await rig.createPayer({ toAmount: "25" });
  await payer.goTo(payer.link.pageUrl);
  await rig.chain.pay({ ...payer.link, amount: 10n * baseUnitsPerToken });
  await payer.waitForText("Payment of 10 USDC detected.");
  expect(await listInvitations(payer)).toEqual(["pay button", "payment options", "manual payment"]);
});

test("a copied value is confirmed for a moment", async () => {
  const payer = await rig.createPayer({ toAmount: "25" });
  await payer.user.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await payer.goTo(payer.link.pageUrl);
  await payer.page.getByText("Advanced", { exact: true }).click();
  const contract = payer.page.getByRole("button", { name: "Copy payment contract" });
  // The confirmation is shown so briefly that it must be observed from before the click.
  const isConfirmed = payer.page.evaluate(`new Promise((resolve) =>
    new MutationObserver(() => {
      if (document.querySelector("[aria-label=Copied]")) resolve(true);
    }).observe(document, { subtree: true, attributeFilter: ["aria-label"] }))`);
  await contract.click();
  await isConfirmed;
  await payer.waitForCopiedText(devnet.erc20FeeProxy);
  await contract.waitFor();
});
