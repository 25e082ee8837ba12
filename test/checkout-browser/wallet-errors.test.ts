import { expect } from "@jest/globals";
import { evmErrorResponses } from "../../services/links-api/src/testing/wallet-error-responses.ts";
import {
  clickPay,
  canPay,
  listPaymentRequests,
  showsPendingPayment,
} from "../rig/create-checkout.ts";
import { failWithResponse, neverRespond } from "../rig/wallet.ts";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";
import { useCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const rig = useCheckout();

type WalletErrorResponse = (typeof evmErrorResponses)[number];

/** The page's text for each kind of error that occurs before or instead of a payment. */
const walletErrorTexts: Readonly<Record<WalletErrorResponse["kind"], string>> = {
  rejected: "You rejected the request. Nothing was paid. You can try again.",
  busy: "Your wallet has a pending request. Finish it there and try again.",
  locked: "Your wallet isn't connected to this page.",
  unsupported: "This wallet can't make this payment. Nothing was paid",
  networkMissing: "Your wallet doesn't have the Local devnet network.",
  batchUnsupported: "This wallet can't make this payment. Nothing was paid",
  lacksGas: "needs more ETH for the network fee.",
  reverted: "The token contract would reject this payment",
  unreachable: "Your wallet can't reach Local devnet.",
  unknown: "Your wallet has not reported a result.",
};

/**
 * Returns the error responses of real wallets to a method, titled by wallet. Returns all of them,
 * or only those of the given wallets.
 */
const findErrorResponses = (
  method: string,
  wallets?: readonly string[],
): [string, WalletErrorResponse][] => {
  const matchedResponses = evmErrorResponses.filter(
    (response) =>
      response.method === method && (wallets === undefined || wallets.includes(response.wallet)),
  );
  if (wallets !== undefined && matchedResponses.length < wallets.length)
    throw new Error("a wallet is not in evmErrorResponses");
  return matchedResponses.map((response) => [response.wallet, response]);
};

/** After these kinds of errors, the wallet may still have sent the payment. */
const ambiguousKinds = new Set(["unknown", "unreachable"]);

const responses = sampleCases(findErrorResponses("eth_sendTransaction"), ([wallet]) =>
  [
    "MetaMask extension, a version without error codes",
    "WalletConnect bridge, without a message",
    "Safe, which returns the same code for every error",
    "Ledger Live, declined on the device",
    "any wallet whose node reports an insufficient balance",
    "WalletConnect bridge, whose wallet can still sign",
    "MetaMask extension, which may have sent it",
  ].includes(wallet),
);

describe("a payer whose wallet returns an error for the payment", () => {
  test.each(responses.filter(([, { kind }]) => !ambiguousKinds.has(kind)))(
    "(%s) sees the reason and pays with the next click",
    async (_wallet, { error, kind }) => {
      const payer = await rig.createPayer({ toAmount: "25" });
      payer.wallet.setHandler("eth_sendTransaction", failWithResponse(error));
      await payer.startPayment(walletErrorTexts[kind]);
      expect(await canPay(payer)).toBe(true);
      expect(await showsPendingPayment(payer)).toBe(false);
      payer.wallet.setHandler("eth_sendTransaction");
      await clickPay(payer);
      await payer.waitForText("Do not pay again");
      expect(listPaymentRequests(payer.wallet)).toHaveLength(2);
    },
  );

  test.each(responses.filter(([, { kind }]) => ambiguousKinds.has(kind)))(
    "(%s) is asked to be careful if the payment may have been sent",
    async (_wallet, { error }) => {
      const payer = await rig.createPayer({ toAmount: "25" });
      payer.wallet.setHandler("eth_sendTransaction", failWithResponse(error));
      await payer.startPayment(walletErrorTexts.unknown);
      expect(await canPay(payer)).toBe(false);
      expect(await payer.readText()).not.toMatch(/nothing was (?:paid|sent)/i);
      await payer.page.reload();
      await payer.waitForText(walletErrorTexts.unknown);
      expect(await canPay(payer)).toBe(false);
    },
  );
});

describe("a payer whose wallet never reports a rejection", () => {
  test("can say so without reloading the page, and pay (rule CALLER-30)", async () => {
    const payer = await rig.createPayer({ toAmount: "25" });
    payer.wallet.setHandler("eth_sendTransaction", neverRespond);
    await payer.startPayment(walletErrorTexts.unknown);
    expect(await canPay(payer)).toBe(false);
    await payer.click("My payment didn't go through", "Did your payment really fail?");
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
    await payer.startPayment("Do not pay again");
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
    await payer.startPayment(walletErrorTexts[kind]);
    expect(await canPay(payer)).toBe(true);
    expect(payer.wallet.listSentTransactions()).toEqual([]);
  });
});
