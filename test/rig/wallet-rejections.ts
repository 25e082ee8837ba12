import { expect } from "@jest/globals";
import { findAxeViolations } from "./find-axe-violations.ts";
import { type Checkout, type Payer, canPay } from "./create-checkout.ts";
import { type TestWallet, failWith } from "./wallet.ts";

/**
 * An account of the node that no other test file uses. It has coins, no tokens and a zero
 * allowance.
 */
export const otherAccount = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";
/** An account without any balance. */
export const emptyAccount = "0x000000000000000000000000000000000000dEaD";

/**
 * Cases in which the page explains why the payment failed: title, the wallet's behavior, and the
 * page's text.
 */
export const walletRejections: [string, (wallet: TestWallet) => void, string][] = [
  [
    "who declines to connect",
    (wallet) => wallet.setHandler("eth_requestAccounts", failWith(4001)),
    "You rejected the request. Nothing was paid. You can try again.",
  ],
  [
    "who declines to pay",
    (wallet) => wallet.setHandler("eth_sendTransaction", failWith(4001)),
    "You rejected the request. Nothing was paid. You can try again.",
  ],
  [
    "whose wallet stays on another network",
    (wallet) => {
      wallet.setHandler("eth_chainId", () => "0x1");
      wallet.setHandler("wallet_switchEthereumChain", () => null);
    },
    "Your wallet is on another network. Switch to Local devnet and try again.",
  ],
  [
    "whose wallet has a pending request",
    (wallet) => wallet.setHandler("eth_requestAccounts", failWith(-32002)),
    "Your wallet has a pending request. Finish it there and try again.",
  ],
  [
    "whose wallet does not authorize the page",
    (wallet) => wallet.setHandler("eth_requestAccounts", failWith(4100)),
    "Your wallet isn't connected to this page. Unlock it, allow the connection and try again.",
  ],
  [
    "whose wallet is watch-only",
    (wallet) => wallet.setHandler("eth_sendTransaction", failWith(4200)),
    "This wallet can't make this payment. Nothing was paid. Use another wallet or pay manually",
  ],
  [
    "whose wallet cannot reach the chain",
    (wallet) => wallet.setHandler("eth_call", failWith(-32603)),
    "Your wallet can't reach Local devnet. Nothing was paid. Try again in a moment.",
  ],
  [
    "whose balance is too low for the fee",
    (wallet) => wallet.setHandler("eth_getBalance", () => "0x1"),
    "0x7099…79C8 needs more ETH for the network fee.",
  ],
];

/**
 * Expects that the page explains what went wrong, also to screen readers, and that the payment can
 * be retried.
 */
export const expectNothingPaid = async (
  rig: Checkout,
  payer: Payer,
  expectedText: string,
): Promise<void> => {
  await payer.waitForText(expectedText);
  expect(await canPay(payer)).toBe(true);
  expect(await findAxeViolations(payer.page)).toEqual([]);
  const { payments } = await rig.system.readLink(payer.link.id);
  expect(payments).toEqual([]);
};

export const expectRejectionExplained = async (
  rig: Checkout,
  rejectInWallet: (wallet: TestWallet) => void,
  expectedText: string,
): Promise<void> => {
  const payer = await rig.createPayer({ toAmount: "25" });
  rejectInWallet(payer.wallet);
  await payer.startPayment();
  await expectNothingPaid(rig, payer, expectedText);
};
