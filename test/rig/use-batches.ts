import { afterEach, beforeEach, expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  type Payer,
  clickPay,
  countPaymentRequests,
  canPay,
  listPaymentRequests,
} from "./create-checkout.ts";
import { useCheckout } from "./use-checkout.ts";
import { type WalletMethodHandler, failWith, neverRespond } from "./wallet.ts";

/** An account of the node. Before each test, it has tokens and a zero allowance. */
export const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
export const baseUnitsPerToken = 1_000_000n;

/**
 * Cases in which the page explains why the payment failed: title, wallet method, the wallet's
 * response, and the page's text.
 */
export const walletRejections: [string, string, WalletMethodHandler, string][] = [
  [
    "who declines",
    "wallet_sendCalls",
    failWith(4001),
    "You rejected the request. Nothing was paid. You can try again.",
  ],
  [
    "whose wallet does not authorize the page",
    "wallet_sendCalls",
    failWith(4100),
    "Your wallet isn't connected to this page. Unlock it, allow the connection and try again.",
  ],
  [
    "whose wallet cannot reach the chain",
    "eth_estimateGas",
    failWith(-32603),
    "Your wallet can't reach Local devnet. Nothing was paid. Try again in a moment.",
  ],
  [
    "whose payment the token's contract rejects",
    "eth_estimateGas",
    failWith(3, "execution reverted"),
    "Nothing was paid. Switch accounts or ask the seller how to pay.",
  ],
];

/** The error codes by which a wallet reports that it does not support batches. */
export const noBatchCodes = [-32601, 4200, 5700, 5710, 5740, 5750, 5760];

/** Responses to `wallet_getCallsStatus` that reveal nothing about a batch. */
export const emptyStatusResponses: [string, WalletMethodHandler][] = [
  ["the wallet does not know the batch", failWith(5730)],
  ["the wallet's node fails", failWith(-32603)],
  ["the wallet never responds", neverRespond],
  ["the wallet returns an invalid status", () => ({ status: "PENDING" })],
];

/** Returns the checkout, and test actions for payers whose wallets support batched calls. */
export const useBatches = () => {
  const rig = useCheckout();
  const approveAllowance = (abiAmount: string) =>
    rig.chain.callRpc("eth_sendTransaction", [
      {
        from: account,
        to: rig.chain.getTokenAddress("usdc"),
        data: `0x095ea7b3${devnet.erc20FeeProxy.slice(2).padStart(64, "0")}${abiAmount.padStart(64, "0")}`,
      },
    ]);

  beforeEach(async () => {
    await rig.mint(account, 25n * baseUnitsPerToken);
    await approveAllowance("0");
  });
  afterEach(async () => {
    await rig.chain.callRpc("evm_setAutomine", [true]);
    await rig.chain.mine();
  });

  const createPayer = (batching: "supported" | "ready" = "supported") =>
    rig.createPayer({ toAmount: "25", account, batching });

  /**
   * Expects that the payer cannot pay, even after a reload, and that the wallet was asked only
   * once.
   */
  const expectNoSecondPayment = async (tab: Payer): Promise<void> => {
    expect(await canPay(tab)).toBe(false);
    expect(await tab.readText()).not.toMatch(/nothing was paid/i);
    await tab.page.reload();
    await tab.waitForText("o not pay again");
    expect(await canPay(tab)).toBe(false);
    expect(countPaymentRequests(tab)).toBe(1);
  };

  /** Sends a batch that stays unmined. Returns its ID and its transaction hash. */
  const sendUnminedBatch = async (tab: Payer): Promise<[string, `0x${string}`]> => {
    tab.wallet.setHandler("wallet_sendCalls", async (params) => {
      await rig.chain.callRpc("evm_setAutomine", [false]);
      return tab.wallet.callMethod("wallet_sendCalls", params);
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.waitForText("Your wallet accepted the payment.");
    const [[id, hash] = ["", ""]] = tab.wallet.batchHashes;
    return [id, `0x${hash.slice(2)}`];
  };

  const expectOneTransaction = async (batching: "supported" | "ready"): Promise<void> => {
    const payer = await createPayer(batching);
    await payer.goTo(payer.link.pageUrl);
    const url = `${rig.system.publicUrl}/checkout/payment-links/${payer.link.id}`;
    const { instructions } = (await (await fetch(url)).json()) as {
      instructions: { steps: { to: string; data: string }[] };
    };
    await clickPay(payer);
    await payer.waitForText("Payment of 25 USDC detected.");
    expect(payer.wallet.listSentTransactions()).toEqual([]);
    expect(payer.wallet.listBatches()).toEqual([
      {
        version: "2.0.0",
        id: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        from: account,
        chainId: "0x539",
        atomicRequired: true,
        calls: instructions.steps.map(({ to, data }) => ({ to, data, value: "0x0" })),
      },
    ]);
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
  };

  const expectRejectionExplained = async (
    method: string,
    walletResponse: WalletMethodHandler,
    expectedText: string,
  ): Promise<void> => {
    const payer = await createPayer();
    payer.wallet.setHandler(method, walletResponse);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText(expectedText);
    expect(await canPay(payer)).toBe(true);
    expect(payer.wallet.listSentTransactions()).toEqual([]);
  };

  const expectSequentialPayments = async (code: number): Promise<void> => {
    const payer = await createPayer();
    payer.wallet.setHandler("wallet_sendCalls", failWith(code));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText("Do not pay again. Transaction 0x");
    expect(payer.wallet.listSentTransactions()).toHaveLength(2);
    expect(listPaymentRequests(payer.wallet)).toHaveLength(1);
  };

  const expectPaymentNotOffered = async (walletResponse: WalletMethodHandler): Promise<void> => {
    const tab = await createPayer();
    let requestCount = 0;
    tab.wallet.setHandler("wallet_getCallsStatus", (params) => {
      requestCount += 1;
      return walletResponse(params);
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await waitUntil("the page requests the batch's status", () => requestCount > 0);
    await expectNoSecondPayment(tab);
  };

  return {
    rig,
    approveAllowance,
    createPayer,
    sendUnminedBatch,
    expectNoSecondPayment,
    expectOneTransaction,
    expectRejectionExplained,
    expectSequentialPayments,
    expectPaymentNotOffered,
  };
};
