import { expect } from "@jest/globals";
import { needingChromium } from "../rig/find-chromium.ts";
import { clickPay, mayPay, paymentsOf } from "../rig/open-checkout.ts";
import {
  expectCareful,
  expectPayableAtOnce,
  findResponses,
  walletErrorWords,
} from "../rig/wallet-errors.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { failWithResponse, never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

const rig = useCheckout();

describe("a payer whose wallet answers the payment with an error", () => {
  test.each(
    findResponses("eth_sendTransaction", [
      "MetaMask extension, before codes",
      "WalletConnect bridge, without words",
      "Safe, which answers every error with one code",
      "Ledger Live, declined on the device",
      "any wallet, whose node says that the balance is short",
    ]),
  )("(%s) is told why, and pays with the next click", (_wallet, { error, kind }) =>
    expectPayableAtOnce(rig, error, walletErrorWords[kind]),
  );

  test.each(
    findResponses("eth_sendTransaction", [
      "WalletConnect bridge, whose wallet can still sign",
      "MetaMask extension, which may have sent it",
    ]),
  )("(%s) that leaves open whether it was sent is asked to be careful", (_wallet, { error }) =>
    expectCareful(rig, error),
  );
});

describe("a payer whose wallet never reports a rejection", () => {
  test("may say so without a reload of their own, and pay (rule CALLER-30)", async () => {
    const payer = await rig.openPayer({ toAmount: "25" });
    payer.wallet.decide("eth_sendTransaction", never);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see(walletErrorWords.unknown);
    expect(await mayPay(payer)).toBe(false);
    await payer.click("It never arrived, or was cancelled");
    await payer.see("Is the first payment really gone?");
    payer.wallet.decide("eth_sendTransaction");
    await payer.click("It is gone, let me pay again");
    await clickPay(payer);
    await payer.see("A payment of 25 USDC was seen and is being confirmed. Do not pay again.");
    expect(paymentsOf(payer.wallet)).toHaveLength(2);
  });
});

describe("a payer whose wallet lacks the network", () => {
  test.each(
    findResponses("wallet_switchEthereumChain", [
      "MetaMask mobile",
      "WalletConnect bridge, with the wallet's error as JSON in its message",
      "Coinbase Wallet extension, of a network that it lacks",
    ]),
  )("(%s) is asked to add it, and pays", async (_wallet, { error }) => {
    const payer = await rig.openPayer({ toAmount: "25" });
    const { wallet } = payer;
    wallet.decide("eth_chainId", () => "0x1");
    wallet.decide("wallet_switchEthereumChain", failWithResponse(error));
    wallet.decide("wallet_addEthereumChain", () => {
      wallet.decide("eth_chainId");
      return null;
    });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect(paymentsOf(wallet)).toHaveLength(1);
  });
});

describe("a payer whose account lacks coins for the fee, or whom the token refuses", () => {
  test.each(
    findResponses("eth_estimateGas", [
      "MetaMask extension, over a node of another make",
      "MetaMask extension, over an older node",
    ]),
  )("(%s) is told so before anything is signed", async (_wallet, { error, kind }) => {
    const payer = await rig.openPayer({ toAmount: "25" });
    payer.wallet.decide("eth_estimateGas", failWithResponse(error));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see(walletErrorWords[kind]);
    expect(await mayPay(payer)).toBe(true);
    expect(payer.wallet.sent()).toEqual([]);
  });
});
