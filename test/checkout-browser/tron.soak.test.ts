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

/** More than the time in which a transaction of the wallet's expires. */
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

describe("a payer with a wallet for Tron", () => {
  test("of before TIP-6963 pays as well", async () => {
    const payer = await createFundedPayer({ isLegacy: true });
    await startPayment(payer);
    await payer.waitForText(paymentSeenText);
    const requestedMethods = payer.wallet.requests.map(({ method }) => method);
    expect(requestedMethods).toContain("tron_requestAccounts");
    expect(requestedMethods).not.toContain("eth_requestAccounts");
  });

  test("that makes itself known late is found; until then TronLink's own browser is offered to a phone", async () => {
    const payer = await createFundedPayer({ announceAfterMs: 3_000 });
    await payer.goTo(payer.link.pageUrl);
    await payer.waitForText("There is no Tron wallet in this browser.");
    await clickPay(payer);
    await payer.waitForText(paymentSeenText);
    expect(await payer.readText()).not.toContain("There is no Tron wallet");
  });

  test("pays by Tab and Enter alone, and reads German", async () => {
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
      await payer.waitForText("nie mehr als 168");
      return payer.wallet.callMethod("trx.sign", params);
    });
    await page.keyboard.press("Enter");
    await payer.waitForText("Zahlen Sie nicht noch einmal.");
    expect(payer.wallet.countSent()).toBe(1);
  });
});

describe("one payment, and no second:", () => {
  test("after a reload once it was sent", async () => {
    const payer = await createFundedPayer();
    await rig.system.stopWatchers();
    await startPayment(payer);
    await payer.waitForText("Do not pay again. Transaction");
    await payer.page.reload();
    await payer.waitForText(`In a block. Waiting until it is seen here.`);
    expect(await canPay(payer)).toBe(false);
    await rig.system.startWatcher();
    await payer.waitForText(paymentSeenText);
    await rig.chain.mine(3);
    await payer.waitForText("This payment link has been paid.");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("nor a second allowance after a reload, while the first waits for its block", async () => {
    const payer = await createPayer();
    await payer.goTo(payer.link.pageUrl);
    await rig.chain.callRpc("evm_setAutomine", [false]);
    await clickPay(payer);
    await payer.waitForText("The allowance was sent; no payment yet.");
    await payer.page.reload();
    await clickPay(payer);
    await payer.waitForText("The allowance was sent; no payment yet.");
    await rig.chain.callRpc("evm_setAutomine", [true]);
    await rig.chain.mine();
    await payer.waitForText(paymentSeenText);
    expect(payer.wallet.listSigningRequests()).toHaveLength(2);
  });

  test("where the wallet never answers: nothing is sent once the time is over, and it may be paid again", async () => {
    const payer = await createFundedPayer();
    let confirmSigning: (signedTransaction: unknown) => void = () => undefined;
    payer.wallet.setHandler("trx.sign", () => new Promise((resolve) => (confirmSigning = resolve)));
    await startPayment(payer);
    await waitUntil("the wallet is asked", () => payer.wallet.listSigningRequests().length === 1);
    await rig.chain.mine(blocksUntilExpired);
    await waitUntil("it is forgotten", async () =>
      payer.page.evaluate(
        `Object.values(localStorage).every((kept) => JSON.parse(kept).payment === undefined)`,
      ),
    );
    // What somebody confirms only now is not sent.
    confirmSigning(payer.wallet.callMethod("trx.sign", [payer.wallet.listSigningRequests()[0]]));
    await waitUntil("it may be paid", () => canPay(payer));
    await expectNothingPaid(payer, "No block took your payment in its time");
    expect(payer.wallet.countSent()).toBe(0);
  });
});

describe("a payer", () => {
  test.each(walletRejections)(
    "%s is told so, and may try again",
    (_case, rejectInWallet, expectedText) => expectRejectionExplained(rejectInWallet, expectedText),
  );

  test.each<[number | undefined, string]>([
    [4001, "You declined in your wallet."],
    [4000, "Your wallet has an open question."],
    [undefined, "Your wallet is locked, or has no account."],
  ])("of an older wallet that answers %s is told what that means", async (code, expectedText) => {
    const payer = await createFundedPayer({ isLegacy: true });
    payer.wallet.setHandler("tron_requestAccounts", () => (code === undefined ? "" : { code }));
    await startPayment(payer);
    await expectNothingPaid(payer, expectedText);
  });

  test("whose wallet changes to the network when it is asked pays there", async () => {
    const payer = await createFundedPayer();
    payer.wallet.callMethod("wallet_switchEthereumChain", [{ chainId: "0x2b6653dc" }]);
    await startPayment(payer);
    await payer.waitForText(paymentSeenText);
    expect(payer.wallet.requests).toContainEqual({
      method: "wallet_switchEthereumChain",
      params: [{ chainId: "0x53a" }],
    });
  });

  test("with too little of the token is told before anything is signed", async () => {
    const payer = await createPayer({ toAmount: "26000000000" });
    await startPayment(payer);
    const { base58 } = payer.wallet;
    await expectNothingPaid(
      payer,
      `${base58.slice(0, 6)}…${base58.slice(-4)} has ` +
        "25 USDC, which is less than 26,000,000,000. Nothing was sent",
    );
    expect(payer.wallet.listSigningRequests()).toEqual([]);
  });

  test("whom the token's contract blocks is told before the payment is signed", async () => {
    await rig.chain.blockAccount(fundedAccount);
    const payer = await createFundedPayer({ tokenId: "blocking-local-tron" });
    await startPayment(payer);
    await expectNothingPaid(
      payer,
      "Nothing was paid; take another account, or ask the owner how to pay.",
    );
    expect(payer.wallet.listSigningRequests()).toEqual([]);
  });

  test("who never answers to the allowance is told so once its time is over", async () => {
    const payer = await createPayer({ lifetimeMs: 3_000 });
    payer.wallet.setHandler("trx.sign", neverRespond);
    await startPayment(payer);
    await payer.waitForText("Step 1 of 2");
    await expectNothingPaid(payer, "Nobody confirmed it in your wallet in its time.");
    expect(payer.wallet.countSent()).toBe(0);
  });

  test("whose allowance the network refuses is told that nothing was paid", async () => {
    const payer = await createPayer();
    payer.wallet.setHandler("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "REVERT" },
    }));
    await startPayment(payer);
    await expectNothingPaid(payer, "The network refused the allowance. Nothing was paid");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("whose transaction fails in its block is told so, and may pay again", async () => {
    const payer = await createFundedPayer();
    payer.wallet.setHandler("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "OUT_OF_ENERGY" },
    }));
    payer.wallet.setHandler("trx.sendRawTransaction", () => ({ result: true }));
    await startPayment(payer);
    await expectNothingPaid(payer, "Your transaction ran out of energy: its fee is gone");
  });
});

describe("what a wallet is asked to sign is what the service asks for:", () => {
  test.each(transactionChanges)("not %s", (_case, pattern, replacement) =>
    expectChangeNotSigned(pattern, replacement),
  );
});

describe("a wallet that asks its node from within the page", () => {
  test("is stopped where it asks another, and its payer is told what to do", async () => {
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
    await expectNothingPaid(payer, "Your wallet asks another node than the network's usual one");
    expect(payer.user.violations.splice(0)).toEqual([
      "connect-src https://node.test/wallet/getblockbynum",
    ]);
  });
});
