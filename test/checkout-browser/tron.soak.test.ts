import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { requireChromium } from "../rig/require-chromium.ts";
import { clickPay, canPay } from "../rig/create-checkout.ts";
import {
  transactionChanges,
  walletRejections,
  fundedAccount,
  paymentSeenText,
  useTronPayers,
} from "../rig/use-tron-payers.ts";
import { walkByKeyboard } from "../rig/walk-by-keyboard.ts";
import { neverRespond } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

/** Longer than the lifetime of the wallet's transactions. */
const blocksUntilExpired = 30;

const {
  rig,
  createPayer,
  createFundedPayer,
  startPayment,
  expectNothingPaid,
  expectRejectionExplained,
  expectChangeNotSigned,
} = useTronPayers();

describe("a payer with a Tron wallet", () => {
  test("can pay with a wallet from before TIP-6963", async () => {
    const payer = await createFundedPayer({ isLegacy: true });
    await startPayment(payer);
    await payer.waitForText(paymentSeenText);
    const requestedMethods = payer.wallet.requests.map(({ method }) => method);
    expect(requestedMethods).toContain("tron_requestAccounts");
    expect(requestedMethods).not.toContain("eth_requestAccounts");
  });

  test("can pay even if the wallet announces itself late; until then a phone is offered TronLink's browser", async () => {
    const payer = await createFundedPayer({ announceAfterMs: 3_000 });
    await payer.goTo(payer.link.pageUrl);
    await payer.waitForText("No Tron wallet found.");
    await clickPay(payer);
    await payer.waitForText(paymentSeenText);
    expect(await payer.readText()).not.toContain("No Tron wallet found");
  });

  test("pays with Tab and Enter only, in German", async () => {
    const payer = await rig.createPayer(
      { toAmount: "25", account: fundedAccount },
      { locale: "de-DE" },
    );
    const { page } = payer;
    await payer.goTo(payer.link.pageUrl);
    await payer.waitForText("25 USDC zahlen");
    expect(await walkByKeyboard(page)).toEqual([]);
    await page.getByRole("button", { name: "25 USDC zahlen" }).focus();
    payer.wallet.setHandler("trx.sign", async (params) => {
      await payer.waitForText("höchstens 168");
      return payer.wallet.callMethod("trx.sign", params);
    });
    await page.keyboard.press("Enter");
    await payer.waitForText("Zahlen Sie nicht noch einmal.");
    expect(payer.wallet.countSent()).toBe(1);
  });
});

describe("a payment happens only once:", () => {
  test("after a reload once it was sent", async () => {
    const payer = await createFundedPayer();
    await rig.system.stopWatchers();
    await startPayment(payer);
    await payer.waitForText("Do not pay again. Transaction");
    await payer.page.reload();
    await payer.waitForText(`In a block. Waiting for confirmation.`);
    expect(await canPay(payer)).toBe(false);
    await rig.system.startWatcher();
    await payer.waitForText(paymentSeenText);
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("without a second allowance after a reload, while the first one waits for its block", async () => {
    const payer = await createPayer();
    await payer.goTo(payer.link.pageUrl);
    await rig.chain.callRpc("evm_setAutomine", [false]);
    await clickPay(payer);
    await payer.waitForText("Approval sent. You have not paid yet.");
    await payer.page.reload();
    await clickPay(payer);
    await payer.waitForText("Approval sent. You have not paid yet.");
    await rig.chain.callRpc("evm_setAutomine", [true]);
    await rig.chain.mine();
    await payer.waitForText(paymentSeenText);
    expect(payer.wallet.listSigningRequests()).toHaveLength(2);
  });

  test("if the wallet never responds, nothing is sent after the transaction expires, and it can be paid again", async () => {
    const payer = await createFundedPayer();
    let confirmSigning: (signedTransaction: unknown) => void = () => undefined;
    payer.wallet.setHandler("trx.sign", () => new Promise((resolve) => (confirmSigning = resolve)));
    await startPayment(payer);
    await waitUntil(
      "the wallet receives the request",
      () => payer.wallet.listSigningRequests().length === 1,
    );
    await rig.chain.mine(blocksUntilExpired);
    await waitUntil("the page forgets the payment", async () =>
      payer.page.evaluate(
        `Object.values(localStorage).every((kept) => JSON.parse(kept).payment === undefined)`,
      ),
    );
    // A late confirmation is not sent.
    confirmSigning(payer.wallet.callMethod("trx.sign", [payer.wallet.listSigningRequests()[0]]));
    await waitUntil("the link can be paid again", () => canPay(payer));
    await expectNothingPaid(payer, "Your payment expired before a block included it");
    expect(payer.wallet.countSent()).toBe(0);
  });
});

describe("a payer", () => {
  test.each(walletRejections)(
    "%s sees the reason and can try again",
    (_case, rejectInWallet, expectedText) => expectRejectionExplained(rejectInWallet, expectedText),
  );

  test.each<[number | undefined, string]>([
    [4001, "You rejected the request."],
    [4000, "Your wallet has a pending request."],
    [undefined, "Your wallet is locked or has no account."],
  ])("with an older wallet that returns %s sees what it means", async (code, expectedText) => {
    const payer = await createFundedPayer({ isLegacy: true });
    payer.wallet.setHandler("tron_requestAccounts", () => (code === undefined ? "" : { code }));
    await startPayment(payer);
    await expectNothingPaid(payer, expectedText);
  });

  test("whose wallet switches to the network on request pays there", async () => {
    const payer = await createFundedPayer();
    payer.wallet.callMethod("wallet_switchEthereumChain", [{ chainId: "0x2b6653dc" }]);
    await startPayment(payer);
    await payer.waitForText(paymentSeenText);
    expect(payer.wallet.requests).toContainEqual({
      method: "wallet_switchEthereumChain",
      params: [{ chainId: "0x53a" }],
    });
  });

  test("with an insufficient token balance is informed before signing anything", async () => {
    const payer = await createPayer({ toAmount: "26000000000" });
    await startPayment(payer);
    const { base58 } = payer.wallet;
    await expectNothingPaid(
      payer,
      `${base58.slice(0, 6)}…${base58.slice(-4)} has ` +
        "25 USDC but needs 26,000,000,000. Nothing was sent",
    );
    expect(payer.wallet.listSigningRequests()).toEqual([]);
  });

  test("that the token's contract blocks is informed before signing the payment", async () => {
    await rig.chain.blockAccount(fundedAccount);
    const payer = await createFundedPayer({ tokenId: "blocking-local-tron" });
    await startPayment(payer);
    await expectNothingPaid(
      payer,
      "Nothing was paid. Switch accounts or ask the seller how to pay.",
    );
    expect(payer.wallet.listSigningRequests()).toEqual([]);
  });

  test("who never confirms the allowance is informed after it expires", async () => {
    const payer = await createPayer({ lifetimeMs: 3_000 });
    payer.wallet.setHandler("trx.sign", neverRespond);
    await startPayment(payer);
    await payer.waitForText("Step 1 of 2");
    await expectNothingPaid(payer, "The request in your wallet expired.");
    expect(payer.wallet.countSent()).toBe(0);
  });

  test("whose allowance reverts is informed that nothing was paid", async () => {
    const payer = await createPayer();
    payer.wallet.setHandler("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "REVERT" },
    }));
    await startPayment(payer);
    await expectNothingPaid(payer, "The network rejected the approval. Nothing was paid");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("whose transaction fails in its block is informed and can pay again", async () => {
    const payer = await createFundedPayer();
    payer.wallet.setHandler("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "OUT_OF_ENERGY" },
    }));
    payer.wallet.setHandler("trx.sendRawTransaction", () => ({ result: true }));
    await startPayment(payer);
    await expectNothingPaid(payer, "Your transaction ran out of energy. The fee was charged");
  });
});

describe("the wallet signs only the requested transaction:", () => {
  test.each(transactionChanges)("not %s", (_case, pattern, replacement) =>
    expectChangeNotSigned(pattern, replacement),
  );
});

describe("a wallet that queries its node from within the page", () => {
  test("is blocked at any other node, and the payer sees what to do", async () => {
    const payer = await createFundedPayer();
    await payer.page.addInitScript(`addEventListener("TIP6963:announceProvider", ({ detail }) => {
      const { request } = detail.provider;
      detail.provider.request = async (asked) => {
        const answer = await request(asked);
        detail.provider.tronWeb.trx.getBlockByNumber = () => fetch("https://node.test/wallet/getblockbynum");
        return answer;
      };
    })`);
    await startPayment(payer);
    await expectNothingPaid(payer, "Your wallet uses a node that this page doesn't allow");
    expect(payer.user.violations.splice(0)).toEqual([
      "connect-src https://node.test/wallet/getblockbynum",
    ]);
  });
});
