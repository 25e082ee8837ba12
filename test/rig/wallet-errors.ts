import { expect } from "@jest/globals";
import { evmErrorResponses } from "../../services/links-api/src/testing/wallet-error-responses.ts";
import {
  type Checkout,
  clickPay,
  canPay,
  listPaymentRequests,
  showsPendingPayment,
} from "./create-checkout.ts";
import { failWithResponse } from "./wallet.ts";

type WalletErrorResponse = (typeof evmErrorResponses)[number];

/** The page's text for each kind of error that occurs before or instead of a payment. */
export const walletErrorTexts: Readonly<Record<WalletErrorResponse["kind"], string>> = {
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
export const findErrorResponses = (
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

/**
 * Expects that when the wallet rejects the payment, the page shows the reason and the payer can
 * immediately pay again.
 */
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
  expect(await showsPendingPayment(payer)).toBe(false);
  payer.wallet.setHandler("eth_sendTransaction");
  await clickPay(payer);
  await payer.waitForText("Do not pay again");
  expect(listPaymentRequests(payer.wallet)).toHaveLength(2);
};

/**
 * Expects that the payer cannot pay again, even after a reload, because the wallet could have sent
 * the payment.
 */
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
