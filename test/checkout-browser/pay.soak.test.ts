import { expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  expectNothingPaid,
  expectRejectionExplained,
  walletRejections,
  otherAccount,
} from "../rig/wallet-rejections.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { clickPay, canPay, listPaymentRequests, publicRpcUrl } from "../rig/create-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { failWith } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

/** One of the chain's payers, who has every token and a full allowance. */
const blockedAccount = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

const rig = useCheckout();

describe("a payer with a wallet", () => {
  test("can pay even if the wallet announces itself late", async () => {
    const payer = await rig.createPayer({ toAmount: "25", announceAfterMs: 3_000 });
    await payer.goTo(payer.link.pageUrl);
    await payer.waitForText("Choose how to pay");
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
    expect(await payer.readText()).not.toContain("Choose how to pay");
  });

  test("keeps the keyboard focus in the list of wallets when another wallet announces itself", async () => {
    const payer = await rig.createPayer({ toAmount: "25", walletNames: ["First", "Second"] });
    const page = payer.page;
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText("Choose a wallet");
    await page.keyboard.press("Tab");
    const readFocusedText = () => page.evaluate("document.activeElement.innerText");
    expect(await readFocusedText()).toBe("Second");
    await page.evaluate(`window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: {
      info: { uuid: "third", name: "Third", rdns: "test.third" }, provider: { request() {} } } }))`);
    await payer.waitForText("Third");
    expect(await readFocusedText()).toBe("Second");
  });

  test("is not affected by another wallet that announces itself with missing fields", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await payer.goTo(payer.link.pageUrl);
    await payer.page.evaluate(`for (const detail of [null, {}, { info: { uuid: "x", name: 7 } }]) {
      window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })); }`);
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
  });

  test("can choose again if the chosen wallet declined", async () => {
    const payer = await rig.createPayer({ toAmount: "25", walletNames: ["First", "Second"] });
    payer.wallet.setHandler("eth_requestAccounts", failWith(4001));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.click("First");
    await payer.waitForText("You rejected the request.");
    await clickPay(payer);
    await payer.click("Second");
    await payer.waitForText("Do not pay again");
  });

  test("sees that the service is unavailable, and that it is available again", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await payer.goTo(payer.link.pageUrl);
    await payer.user.context.setOffline(true);
    const expectedText = "Can't update. Reconnecting…";
    await payer.waitForText(expectedText);
    await payer.user.context.setOffline(false);
    await waitUntil(
      "the page is available again",
      async () => !(await payer.readText()).includes(expectedText),
    );
    expect(await canPay(payer)).toBe(true);
  });

  test("can copy each value that a manual payment needs", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await payer.user.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await payer.goTo(payer.link.pageUrl);
    await payer.page.getByText("Details", { exact: true }).click();
    const copiedTexts: unknown[] = [];
    for (const name of ["Copy payment contract", "Copy payment reference"]) {
      await payer.click(name);
      copiedTexts.push(await payer.page.evaluate("navigator.clipboard.readText()"));
    }
    expect(copiedTexts).toEqual([devnet.erc20FeeProxy, `0x${payer.link.reference}`]);
  });

  test("has a payment button, while a browser without a wallet shows only a notice", async () => {
    const { link } = await rig.createPayer({ toAmount: "25" });
    const user = await rig.createUser({});
    const tab = await user.openTab();
    await tab.goTo(link.pageUrl);
    await tab.waitForText("Choose how to pay");
    expect(await canPay(tab)).toBe(false);
  });
});

describe("a payer", () => {
  test.each(walletRejections.filter(([name]) => !/declines to pay|another network/.test(name)))(
    "%s sees the reason and can try again",
    (_case, rejectInWallet, expectedText) =>
      expectRejectionExplained(rig, rejectInWallet, expectedText),
  );

  test("whose wallet lacks the network is asked to add it manually if the catalogue has no public node", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await payer.page.route(payer.link.pageUrl, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(publicRpcUrl, "");
      await route.fulfill({ response, body });
    });
    payer.wallet.setHandler("eth_chainId", () => "0x1");
    payer.wallet.setHandler("wallet_switchEthereumChain", failWith(4902));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await expectNothingPaid(
      rig,
      payer,
      "Your wallet doesn't have the Local devnet network. Add it and try again.",
    );
  });

  test("that the token's contract blocks is informed before the payment is sent", async () => {
    await rig.chain.blockAccount(blockedAccount);
    const payer = await rig.createPayer({
      toAmount: "25",
      tokenId: "blocking",
      account: blockedAccount,
    });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await expectNothingPaid(
      rig,
      payer,
      "Nothing was paid. Switch accounts or ask the seller how to pay.",
    );
    expect(listPaymentRequests(payer.wallet)).toEqual([]);
  });

  test("whose allowance reverts is informed that nothing was paid", async () => {
    await rig.mint(otherAccount, 25_000_000n);
    const payer = await rig.createPayer({ toAmount: "25", account: otherAccount });
    payer.wallet.setHandler("eth_getTransactionReceipt", () => ({ status: "0x0" }));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await expectNothingPaid(rig, payer, "The network rejected the approval. Nothing was paid");
    expect(listPaymentRequests(payer.wallet)).toEqual([]);
  });
});
