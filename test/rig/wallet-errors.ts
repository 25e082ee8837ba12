import { expect } from "@jest/globals";
import { evmErrorResponses } from "../../services/links-api/src/testing/wallet-error-responses.ts";
import { type Checkout, clickPay, canPay, listPaymentRequests } from "./create-checkout.ts";
import { failWithResponse } from "./wallet.ts";

type WalletErrorResponse = (typeof evmErrorResponses)[number];

/** The page's text for each kind of error before or instead of a payment. */
export const walletErrorTexts: Readonly<Record<WalletErrorResponse["kind"], string>> = {
  rejected: "You declined in your wallet. Nothing was paid; you can try again.",
  busy: "Your wallet has an open question. Answer it there, then try again.",
  locked: "Your wallet does not let this page use your account.",
  unsupported: "This wallet cannot pay here. Nothing was paid",
  networkMissing: "Your wallet does not know Local devnet.",
  batchUnsupported: "This wallet cannot pay here. Nothing was paid",
  lacksGas: "has too little ETH for the network's fee.",
  reverted: "The token's contract would refuse this payment",
  unreachable: "Your wallet cannot reach Local devnet right now.",
  unknown: "Your wallet was asked for this payment and has not answered this page.",
};

/**
 * Returns the error responses of real wallets to a method, titled by wallet; all of them, or those
 * of the given wallets.
 */
export const findErrorResponses = (
  method: string,
  wallets?: readonly string[],
): [string, WalletErrorResponse][] => {
  const matchedResponses = evmErrorResponses.filter(
    (response) =>
      response.method === method && (wallets === undefined || wallets.includes(response.wallet)),
  );
  if (wallets !== undefined && matchedResponses.length < wallets.length)
    throw new Error("a wallet is missing");
  return matchedResponses.map((response) => [response.wallet, response]);
};

/** Expects that, when the wallet rejects the payment, the button works as soon as the page explains why. */
export const expectPayableImmediately = async (
  rig: Checkout,
  error: unknown,
  expectedText: string,
): Promise<void> => {
  const payer = await rig.createPayer({ toAmount: "25" });
  payer.wallet.setHandler("eth_sendTransaction", failWithResponse(error));
  await payer.goTo(payer.link.pageUrl);
  await clickPay(payer);
  await payer.waitForText(expectedText);
  expect(await canPay(payer)).toBe(true);
  expect(await payer.readText()).not.toMatch(/do not pay again|was asked for this payment/i);
  payer.wallet.setHandler("eth_sendTransaction");
  await clickPay(payer);
  await payer.waitForText("Do not pay again");
  expect(listPaymentRequests(payer.wallet)).toHaveLength(2);
};

/** Expects that no button pays, even after a reload, because the wallet may have sent the payment. */
export const expectNoRetryOffered = async (rig: Checkout, error: unknown): Promise<void> => {
  const payer = await rig.createPayer({ toAmount: "25" });
  payer.wallet.setHandler("eth_sendTransaction", failWithResponse(error));
  await payer.goTo(payer.link.pageUrl);
  await clickPay(payer);
  await payer.waitForText(walletErrorTexts.unknown);
  expect(await canPay(payer)).toBe(false);
  expect(await payer.readText()).not.toMatch(/nothing was (?:paid|sent)/i);
  await payer.page.reload();
  await payer.waitForText(walletErrorTexts.unknown);
  expect(await canPay(payer)).toBe(false);
};
