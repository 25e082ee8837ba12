import { expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  expectNothingPaid,
  expectRejectionExplained,
  emptyAccount,
  walletRejections,
  otherAccount,
} from "../rig/wallet-rejections.ts";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";
import { clickPay, canPay, listPaymentRequests, publicRpcUrl } from "../rig/create-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { announceLateWallets, failWith } from "../rig/wallet.ts";

const { describe, describeSoak, test } = requireChromium();

/** One of the chain's payers, who has every token and a full allowance. */
const accountWithAllowance = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";

const rig = useCheckout();

describe("a payer with a wallet", () => {
  test("approves the exact amount, pays it, and sees it settle without reloading the page", async () => {
    // Other tests can leave tokens in the account.
    const heldAmount = await rig.balanceOf(otherAccount);
    if (heldAmount < 1_234_500_000n) await rig.mint(otherAccount, 1_234_500_000n - heldAmount);
    const payer = await rig.createPayer({ toAmount: "1234.5", account: otherAccount });
    await payer.open();
    expect(await payer.readText()).toContain("Pay 1,234.5 USDC");
    const url = `${rig.system.publicUrl}/checkout/payment-links/${payer.link.id}`;
    const { instructions } = (await (await fetch(url)).json()) as {
      instructions: { steps: { to: string; data: string }[] };
    };
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
    await payer.waitForText("0x9965…A4dc has 1,234.5 USDC");
    expect(payer.wallet.listSentTransactions()).toEqual(
      instructions.steps.map(({ to, data }) => ({ from: otherAccount, to, data, value: "0x0" })),
    );
    await payer.waitForText("Payment of 1,234.5 USDC detected.");
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(await canPay(payer)).toBe(false);
  });

  test("sees a link to the chain's explorer once the wallet has sent the payment (rule API-31)", async () => {
    const payer = await rig.createPayer({ toAmount: "3" });
    await payer.open();
    const link = payer.page.getByRole("link", { name: "View transaction on explorer.test" });
    await payer.waitForText("Pay 3 USDC");
    expect(await link.isVisible()).toBe(false);
    await clickPay(payer);
    await link.waitFor();
    const attributes = ["href", "rel", "referrerpolicy"].map((name) => link.getAttribute(name));
    const [hash] = await payer.page.evaluate<string[]>(
      `Object.values(localStorage).map((kept) => JSON.parse(kept).payment.hash)`,
    );
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await Promise.all(attributes)).toEqual([
      `https://explorer.test/tx/${hash}`,
      "noopener noreferrer",
      "no-referrer",
    ]);
  });

  test("pays the chain's native coin in one step", async () => {
    const payer = await rig.createPayer({ toAmount: "1.5", tokenId: "coin" });
    await payer.startPayment("Do not pay again");
    const [firstTransaction, ...otherTransactions] = payer.wallet.listSentTransactions();
    expect([firstTransaction?.value, otherTransactions]).toEqual(["0x14d1120d7b160000", []]);
    await payer.waitForText("Payment of 1.5 ETH detected");
  });

  test("resets an earlier allowance first if the token requires it", async () => {
    const tokenAddress = rig.chain.getTokenAddress("silent");
    await rig.approve(accountWithAllowance, 0n, "silent");
    await rig.approve(accountWithAllowance, 1n, "silent");
    const payer = await rig.createPayer({
      toAmount: "7",
      tokenId: "silent",
      account: accountWithAllowance,
    });
    await payer.startPayment("Do not pay again");
    expect(payer.wallet.listSentTransactions().map(({ to }) => to)).toEqual([
      tokenAddress,
      tokenAddress,
      devnet.erc20FeeProxy,
    ]);
    await payer.waitForText("Payment of 7 SILENT detected");
  });

  test("can choose among several wallets", async () => {
    const payer = await rig.createPayer({ toAmount: "25", walletNames: ["First", "Second <b>"] });
    await payer.startPayment("Choose a wallet");
    await payer.click("Second <b>", "Do not pay again");
    expect(payer.wallets.map((wallet) => listPaymentRequests(wallet).length)).toEqual([0, 1]);
  });

  test("sees the wallets' own icons, limited to images of a bounded size", async () => {
    const walletNames = ["Small", "Elsewhere", "Page", "Huge"];
    const payer = await rig.createPayer({ toAmount: "25", walletNames });
    const smallIcon =
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
    const icons = [
      smallIcon,
      "https://images.test/icon.png",
      "data:text/html,<script>alert(1)</script>",
      `${smallIcon}${"A".repeat(200_000)}`,
    ];
    for (const [index, icon] of icons.entries())
      Object.assign(payer.wallets[index]?.info ?? {}, { icon });
    // The wallets announce themselves when the tab opens, so the new icons require a new tab.
    const user = await rig.createUser({ wallets: payer.wallets });
    const tab = await user.openTab();
    await tab.goTo(payer.link.pageUrl);
    await clickPay(tab);
    await tab.waitForText("Choose a wallet");
    const shownWallets = await tab.page
      .evaluate(`[...document.querySelectorAll("#wallets button")].map(
      (button) => [button.innerText, button.querySelector("img")?.src ?? null])`);
    expect(shownWallets).toEqual([
      ["Small", smallIcon],
      ["Elsewhere", null],
      ["Page", null],
      ["Huge", null],
    ]);
    const iconLoadedExpression = `document.querySelector("#wallets img").naturalWidth === 1`;
    await waitUntil("the icon is loaded", () => tab.page.evaluate<boolean>(iconLoadedExpression));
    expect(await findAxeViolations(tab.page)).toEqual([]);
  });

  test("who declined is still warned after someone else has paid", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    payer.wallet.setHandler("eth_requestAccounts", failWith(4001));
    await payer.startPayment("You rejected the request.");
    await rig.chain.pay({ ...payer.link, amount: 25_000_000n });
    await payer.waitForText("Payment of 25 USDC detected. Do not pay again.");
    expect(await canPay(payer)).toBe(false);
  });
});

describeSoak("a payer with a wallet", () => {
  test("can pay even if the wallet announces itself late", async () => {
    const payer = await rig.createPayer({ toAmount: "25", announcesLate: true });
    await payer.open();
    const readOption = () => payer.page.locator("input:checked").getAttribute("value");
    expect(await readOption()).toBe("qr");
    await announceLateWallets(payer);
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
    expect(await readOption()).toBe("wallet");
  });

  test("keeps the keyboard focus in the list of wallets when another wallet announces itself", async () => {
    const payer = await rig.createPayer({ toAmount: "25", walletNames: ["First", "Second"] });
    const page = payer.page;
    await payer.startPayment("Choose a wallet");
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
    await payer.open();
    await payer.page.evaluate(`for (const detail of [null, {}, { info: { uuid: "x", name: 7 } }]) {
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })); }`);
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
  });

  test("can choose again if the chosen wallet declined", async () => {
    const payer = await rig.createPayer({ toAmount: "25", walletNames: ["First", "Second"] });
    payer.wallet.setHandler("eth_requestAccounts", failWith(4001));
    await payer.startPayment();
    await payer.click("First", "You rejected the request.");
    await clickPay(payer);
    await payer.click("Second", "Do not pay again");
  });

  test("can copy each value that a manual payment needs", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await payer.user.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await payer.open();
    await payer.page.getByText("Advanced", { exact: true }).click();
    const expectedTexts = {
      "Copy payment contract": devnet.erc20FeeProxy,
      "Copy payment reference": `0x${payer.link.reference}`,
    };
    for (const [name, expectedText] of Object.entries(expectedTexts)) {
      await payer.click(name);
      await payer.waitForCopiedText(expectedText);
    }
  });
});

describe("a payer", () => {
  test.each(
    sampleCases(walletRejections, ([name]) => /declines to pay|another network/.test(name)),
  )("%s sees the reason and can try again", (_case, rejectInWallet, expectedText) =>
    expectRejectionExplained(rig, rejectInWallet, expectedText),
  );

  test("whose wallet lacks the network is asked to add it if the catalogue has a public node", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const { wallet } = payer;
    const chainId = "0x539";
    wallet.setHandler("eth_chainId", () => "0x1");
    wallet.setHandler("wallet_switchEthereumChain", failWith(4902));
    wallet.setHandler("wallet_addEthereumChain", () => {
      wallet.setHandler("eth_chainId");
      return null;
    });
    await payer.startPayment("Do not pay again");
    const addRequest = wallet.requests.find(({ method }) => method === "wallet_addEthereumChain");
    const nativeCurrency = { name: "ETH", symbol: "ETH", decimals: 18 };
    expect(addRequest?.params).toEqual([
      { chainId, chainName: "Local devnet", nativeCurrency, rpcUrls: [publicRpcUrl] },
    ]);
  });

  test("with an insufficient token balance is informed before signing anything", async () => {
    const payer = await rig.createPayer({ toAmount: "25", account: emptyAccount });
    await payer.startPayment();
    await expectNothingPaid(
      rig,
      payer,
      "0x0000…dEaD has 0 USDC but needs 25. Nothing was sent. Add funds or switch accounts",
    );
    expect(payer.wallet.listSentTransactions()).toEqual([]);
  });
});

describeSoak("a payer", () => {
  test("whose wallet lacks the network is asked to add it manually if the catalogue has no public node", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    await payer.page.route(payer.link.pageUrl, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(publicRpcUrl, "");
      await route.fulfill({ response, body });
    });
    payer.wallet.setHandler("eth_chainId", () => "0x1");
    payer.wallet.setHandler("wallet_switchEthereumChain", failWith(4902));
    await payer.startPayment();
    await expectNothingPaid(
      rig,
      payer,
      "Your wallet doesn't have the Local devnet network. Add it and try again.",
    );
  });

  test("whose allowance reverts is informed that nothing was paid", async () => {
    await rig.mint(otherAccount, 25_000_000n);
    const payer = await rig.createPayer({ toAmount: "25", account: otherAccount });
    payer.wallet.setHandler("eth_getTransactionReceipt", () => ({ status: "0x0" }));
    await payer.startPayment();
    await expectNothingPaid(rig, payer, "The network rejected the approval. Nothing was paid");
    expect(listPaymentRequests(payer.wallet)).toEqual([]);
  });
});
