import { expect } from "@jest/globals";
import { evmErrorResponses } from "../../services/links-api/src/testing/wallet-error-responses.ts";
import { type Checkout, clickPay, mayPay, paymentsOf } from "./open-checkout.ts";
import { failWithResponse } from "./wallet.ts";

type Response = (typeof evmErrorResponses)[number];

/** What the page says of each kind of error before or instead of a payment. */
export const walletErrorWords: Readonly<Record<Response["kind"], string>> = {
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

/** What wallets answered to a method, by whose answer it is; all of them, or those of the wallets named. */
export const findResponses = (
  method: string,
  wallets?: readonly string[],
): [string, Response][] => {
  const found = evmErrorResponses.filter(
    (response) =>
      response.method === method && (wallets === undefined || wallets.includes(response.wallet)),
  );
  if (wallets !== undefined && found.length < wallets.length)
    throw new Error("a wallet is missing");
  return found.map((response) => [response.wallet, response]);
};

/** The wallet answers the payment with an error; the button works as soon as the page says why. */
export const expectPayableAtOnce = async (
  rig: Checkout,
  error: unknown,
  words: string,
): Promise<void> => {
  const payer = await rig.openPayer({ toAmount: "25" });
  payer.wallet.decide("eth_sendTransaction", failWithResponse(error));
  await payer.goTo(payer.link.pageUrl);
  await clickPay(payer);
  await payer.see(words);
  expect(await mayPay(payer)).toBe(true);
  expect(await payer.text()).not.toMatch(/do not pay again|was asked for this payment/i);
  payer.wallet.decide("eth_sendTransaction");
  await clickPay(payer);
  await payer.see("Do not pay again");
  expect(paymentsOf(payer.wallet)).toHaveLength(2);
};

/** The wallet may have sent the payment: no button pays, nor after a reload. */
export const expectCareful = async (rig: Checkout, error: unknown): Promise<void> => {
  const payer = await rig.openPayer({ toAmount: "25" });
  payer.wallet.decide("eth_sendTransaction", failWithResponse(error));
  await payer.goTo(payer.link.pageUrl);
  await clickPay(payer);
  await payer.see(walletErrorWords.unknown);
  expect(await mayPay(payer)).toBe(false);
  expect(await payer.text()).not.toMatch(/nothing was (?:paid|sent)/i);
  await payer.page.reload();
  await payer.see(walletErrorWords.unknown);
  expect(await mayPay(payer)).toBe(false);
};
