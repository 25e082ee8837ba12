import { beforeEach, expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeViolations } from "./find-axe-violations.ts";
import { clickPay, canPay, showsPendingPayment } from "./create-checkout.ts";
import { createTronCheckout } from "./create-tron-checkout.ts";
import type { TronWallet } from "./tron-wallet.ts";
import { usePayersRig } from "./use-checkout.ts";
import { failWith } from "./wallet.ts";

/** An account of the node. Before each test, it has 25 tokens and a zero allowance. */
const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
/** One of the chain's prefunded payers, with a large balance and an unlimited allowance. */
export const fundedAccount = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const baseUnitsPerToken = 1_000_000n;

/** The text that the page shows when the service has detected the payment. */
export const paymentSeenText = "Payment of 25 USDC detected. Do not pay again.";

type Rig = Awaited<ReturnType<typeof createTronCheckout>>;
type Payer = Awaited<ReturnType<Rig["createPayer"]>>;
type TronPayerOptions = Partial<Parameters<Rig["createPayer"]>[0]>;

export const walletRejections: [string, (wallet: TronWallet) => void, string][] = [
  [
    "who declines to connect",
    (wallet) => wallet.setHandler("eth_requestAccounts", failWith(4001)),
    "You rejected the request. Nothing was paid. You can try again.",
  ],
  [
    "who declines to sign, which TronLink reports only as text",
    (wallet) => wallet.setHandler("trx.sign", failWith(-32603, "Confirmation declined by user")),
    "You rejected the request. Nothing was paid. You can try again.",
  ],
  [
    "whose wallet is locked",
    (wallet) => wallet.setHandler("eth_requestAccounts", failWith(-32000)),
    "Your wallet is locked or has no account. Unlock it and try again.",
  ],
  [
    "whose wallet has no account",
    (wallet) => wallet.setHandler("eth_requestAccounts", () => []),
    "Your wallet is locked or has no account. Unlock it and try again.",
  ],
  [
    "whose wallet has a pending request",
    (wallet) => wallet.setHandler("eth_requestAccounts", failWith(-32002)),
    "Your wallet has a pending request. Finish it there and try again.",
  ],
  [
    "whose wallet stays on another network",
    (wallet) => {
      wallet.setHandler("trx.getBlockByNumber", () => ({ blockID: "2b6653dc".padStart(64, "0") }));
      wallet.setHandler("wallet_switchEthereumChain", failWith(4200));
    },
    "Your wallet is on another network. Select Local Tron there and try again.",
  ],
  [
    "who has no TRX for the energy",
    (wallet) => wallet.setHandler("trx.getUnconfirmedBalance", () => 1_000),
    "has 0.001 TRX, but this step costs about",
  ],
  [
    "whose payment needs more energy than the fee limit",
    (wallet) =>
      wallet.setHandler("trx.getChainParameters", () => [
        { key: "getEnergyFee", value: 1_000_000 },
      ]),
    "covers. Nothing was paid. Ask the seller how to pay.",
  ],
  [
    "whose node rejects the signed transaction",
    (wallet) => wallet.setHandler("trx.sendRawTransaction", () => ({ code: "TAPOS_ERROR" })),
    "Your wallet's node rejected the transaction. Nothing was paid. Try again",
  ],
  [
    "who has too little TRX for the size of the transaction",
    (wallet) => wallet.setHandler("trx.sendRawTransaction", () => ({ code: "BANDWITH_ERROR" })),
    "Your account needs more TRX for the bandwidth fee.",
  ],
  [
    "who confirms too late",
    (wallet) =>
      wallet.setHandler("trx.sendRawTransaction", () => ({ code: "TRANSACTION_EXPIRATION_ERROR" })),
    "Your confirmation came too late. Nothing was paid. Try again",
  ],
  [
    "whose wallet cannot reach the chain",
    (wallet) => wallet.setHandler("trx.getAccountResources", failWith(-32603, "Network Error")),
    "Your wallet can't reach Local Tron. Nothing was paid. Try again in a moment.",
  ],
];

export type TronTransaction = { raw_data_hex: string };

/** Modifies the wallet's transaction before the page receives it. */
const alterTransaction = (
  wallet: TronWallet,
  alter: (transaction: TronTransaction) => TronTransaction,
): void => {
  const method = "transactionBuilder.triggerSmartContract";
  wallet.setHandler(method, async (params) => {
    const result = (await wallet.callMethod(method, params)) as { transaction: TronTransaction };
    return { ...result, transaction: alter(result.transaction) };
  });
};

export const differentTransactionText =
  "Your wallet created a different transaction than requested. Nothing was paid";
const attackerAddress = "7".repeat(40);

/** Changes that a wallet could make to the transaction that it was asked to sign. */
export const transactionChanges: [string, RegExp, string][] = [
  ["another recipient", /(c219a14d\w{64}\w{24})\w{40}/, `$1${attackerAddress}`],
  ["another contract", /1215\w{42}/, `121541${attackerAddress}`],
  ["a higher fee limit", /9001\w+$/, "9001ffffff7f"],
  ["a memo", /$/, "520131"],
];

/** Returns the local Tron chain, a browser, and test actions for payers. */
export const useTronPayers = () => {
  const rig = usePayersRig(() => createTronCheckout());
  beforeEach(async () => {
    const tokenAddress = rig.chain.getTokenAddress("usdc");
    if ((await rig.balanceOf(account)) < 25n * baseUnitsPerToken)
      await rig.mint(account, 25n * baseUnitsPerToken);
    const spender = devnet.erc20FeeProxy.slice(2).padStart(64, "0");
    const data = `0x095ea7b3${spender}${"0".repeat(64)}`;
    await rig.chain.callRpc("eth_sendTransaction", [{ from: account, to: tokenAddress, data }]);
  });

  const createPayer = (options: TronPayerOptions = {}): Promise<Payer> =>
    rig.createPayer({ toAmount: "25", account, ...options });

  const startPayment = async (payer: Payer): Promise<void> => {
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
  };

  /** Creates a payer whose payment needs one signature. */
  const createFundedPayer = (options: TronPayerOptions = {}): Promise<Payer> =>
    createPayer({ account: fundedAccount, ...options });

  const expectNothingPaid = async (payer: Payer, expectedText: string): Promise<void> => {
    await payer.waitForText(expectedText);
    expect(await canPay(payer)).toBe(true);
    expect(await findAxeViolations(payer.page)).toEqual([]);
    const { payments } = await rig.system.readLink(payer.link.id);
    expect(payments).toEqual([]);
  };

  /** Expects that the page has queried the payment's status and still blocks a second payment. */
  const expectStillPending = async (payer: Payer): Promise<void> => {
    const countPolls = () =>
      payer.wallet.requests.filter(({ method }) => method === "trx.getUnconfirmedTransactionInfo")
        .length;
    const pollsBefore = countPolls();
    // The page shows the first poll's result at the second poll.
    await waitUntil("two more status requests", () => countPolls() >= pollsBefore + 2);
    await payer.waitForText("Sent. Waiting for the network. Do not pay again.");
    expect(await canPay(payer)).toBe(false);
  };

  const expectRejectionExplained = async (
    rejectInWallet: (wallet: TronWallet) => void,
    expectedText: string,
  ): Promise<void> => {
    const payer = await createFundedPayer();
    rejectInWallet(payer.wallet);
    await startPayment(payer);
    await expectNothingPaid(payer, expectedText);
    await payer.page.reload();
    await payer.waitForText("Pay 25 USDC");
    expect(await canPay(payer)).toBe(true);
    expect(await showsPendingPayment(payer)).toBe(false);
  };

  const expectChangeNotSigned = async (pattern: RegExp, replacement: string): Promise<void> => {
    const payer = await createFundedPayer();
    alterTransaction(payer.wallet, (transaction) => {
      const raw_data_hex = transaction.raw_data_hex.replace(pattern, replacement);
      expect(raw_data_hex).not.toBe(transaction.raw_data_hex);
      return { ...transaction, raw_data_hex };
    });
    await startPayment(payer);
    await expectNothingPaid(payer, differentTransactionText);
    expect(payer.wallet.listSigningRequests()).toEqual([]);
  };

  return {
    rig,
    createPayer,
    createFundedPayer,
    startPayment,
    expectNothingPaid,
    expectStillPending,
    expectRejectionExplained,
    expectChangeNotSigned,
  };
};
