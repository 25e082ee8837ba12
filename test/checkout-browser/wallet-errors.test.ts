import { expect } from "@jest/globals";
import { requireChromium } from "../rig/require-chromium.ts";
import { clickPay, canPay, listPaymentRequests } from "../rig/create-checkout.ts";
import {
  expectNoRetryOffered,
  expectPayableImmediately,
  findErrorResponses,
  walletErrorTexts,
} from "../rig/wallet-errors.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { failWithResponse, neverRespond } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const rig = useCheckout();

describe("a payer whose wallet returns an error for the payment", () => {
  test.each(
    findErrorResponses("eth_sendTransaction", [
      "MetaMask extension, a version without error codes",
      "WalletConnect bridge, without a message",
      "Safe, which returns the same code for every error",
      "Ledger Live, declined on the device",
      "any wallet whose node reports an insufficient balance",
    ]),
  )("(%s) sees the reason and pays with the next click", (_wallet, { error, kind }) =>
    expectPayableImmediately(rig, error, walletErrorTexts[kind]),
  );

  test.each(
    findErrorResponses("eth_sendTransaction", [
      "WalletConnect bridge, whose wallet can still sign",
      "MetaMask extension, which may have sent it",
    ]),
  )("(%s) is asked to be careful if the payment may have been sent", (_wallet, { error }) =>
    expectNoRetryOffered(rig, error),
  );
});

describe("a payer whose wallet never reports a rejection", () => {
  test("can say so without reloading the page, and pay (rule CALLER-30)", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    payer.wallet.setHandler("eth_sendTransaction", neverRespond);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText(walletErrorTexts.unknown);
    expect(await canPay(payer)).toBe(false);
    await payer.click("My payment didn't go through");
    await payer.waitForText("Did your payment really fail?");
    payer.wallet.setHandler("eth_sendTransaction");
    await payer.click("Allow new payment");
    await clickPay(payer);
    await payer.waitForText("Payment of 25 USDC detected. Do not pay again.");
    expect(listPaymentRequests(payer.wallet)).toHaveLength(2);
  });
});

describe("a payer whose wallet lacks the network", () => {
  test.each(
    findErrorResponses("wallet_switchEthereumChain", [
      "MetaMask mobile",
      "WalletConnect bridge, with the wallet's error as JSON in its message",
      "Coinbase Wallet extension without the network",
    ]),
  )("(%s) is asked to add it, and pays", async (_wallet, { error }) => {
    const payer = await rig.createPayer({ toAmount: "25" });
    const { wallet } = payer;
    wallet.setHandler("eth_chainId", () => "0x1");
    wallet.setHandler("wallet_switchEthereumChain", failWithResponse(error));
    wallet.setHandler("wallet_addEthereumChain", () => {
      wallet.setHandler("eth_chainId");
      return null;
    });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
    expect(listPaymentRequests(wallet)).toHaveLength(1);
  });
});

describe("a payer who cannot pay the fee, or whose transfer the token rejects", () => {
  test.each(
    findErrorResponses("eth_estimateGas", [
      "MetaMask extension with another node program",
      "MetaMask extension with an older node",
    ]),
  )("(%s) sees the reason before signing anything", async (_wallet, { error, kind }) => {
    const payer = await rig.createPayer({ toAmount: "25" });
    payer.wallet.setHandler("eth_estimateGas", failWithResponse(error));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText(walletErrorTexts[kind]);
    expect(await canPay(payer)).toBe(true);
    expect(payer.wallet.listSentTransactions()).toEqual([]);
  });
});
