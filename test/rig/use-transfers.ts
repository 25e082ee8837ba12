import { afterEach, beforeEach, expect } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { devnet } from "@payment-links/contracts";
import {
  type Checkout,
  type Payer,
  clickPay,
  canPay,
  showsPendingPayment,
} from "./create-checkout.ts";
import { useOwnCheckout } from "./use-checkout.ts";
import { failWith } from "./wallet.ts";

/** An account of the node. Before each test, it has tokens, a zero allowance and no code. */
export const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const baseUnitsPerToken = 1_000_000n;

type PayerOptions = Partial<Parameters<Checkout["createPayer"]>[0]>;

/** A wallet's rejection code, and the text that the page shows for it. */
export const walletRejections: [number, string][] = [
  [4001, "You rejected the request. Nothing was paid. You can try again."],
  [
    4100,
    "Your wallet isn't connected to this page. Unlock it, allow the connection and try again.",
  ],
];

/**
 * Returns a checkout whose watcher detects direct transfers, and helpers that pay by direct
 * transfer.
 */
export const useTransfers = () => {
  const rig = useOwnCheckout({ readsTransfers: true });
  beforeEach(async () => {
    await rig.chain.callRpc("anvil_setCode", [account, "0x"]);
    await rig.mint(account, 25n * baseUnitsPerToken);
    const spender = devnet.erc20FeeProxy.slice(2).padStart(64, "0");
    const data = `0x095ea7b3${spender}${"0".repeat(64)}`;
    const tokenAddress = rig.chain.getTokenAddress("usdc");
    await rig.chain.callRpc("eth_sendTransaction", [{ from: account, to: tokenAddress, data }]);
  });
  afterEach(async () => {
    await rig.chain.callRpc("evm_setAutomine", [true]);
    await rig.chain.mine();
  });

  /** Creates a payer of a link whose owner's address the watcher knows. */
  const createPayer = async (options: PayerOptions = {}): Promise<Payer> => {
    const payer = await rig.createPayer({ toAmount: "25", account, ...options });
    await rig.system.waitForLinkReceived(payer.link.id);
    return payer;
  };

  const listPaymentKinds = (payer: Payer) =>
    payer.wallet
      .listSentTransactions()
      .map(({ data }) => (data.startsWith("0xa9059cbb") ? "direct" : "by contract"));

  const expectRejectionExplained = async (code: number, expectedText: string): Promise<void> => {
    const payer = await createPayer();
    payer.wallet.setHandler("eth_sendTransaction", failWith(code));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText(expectedText);
    expect(await canPay(payer)).toBe(true);
    await payer.page.reload();
    expect(await showsPendingPayment(payer)).toBe(false);
    expect(await canPay(payer)).toBe(true);
    payer.wallet.setHandler("eth_sendTransaction");
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
    expect(listPaymentKinds(payer)).toEqual(["direct", "direct"]);
  };

  const expectPaymentKinds = async (
    payer: Payer,
    expectedKinds: readonly string[],
    expectedBatchCount = 0,
  ): Promise<void> => {
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
    expect([listPaymentKinds(payer), payer.wallet.listBatches().length]).toEqual([
      expectedKinds,
      expectedBatchCount,
    ]);
  };

  /** Creates an account with tokens and coins that has never sent a transaction. */
  const createFreshAccount = async (): Promise<string> => {
    const freshAccount = `0x${randomBytes(20).toString("hex")}`;
    await rig.chain.callRpc("anvil_impersonateAccount", [freshAccount]);
    await rig.chain.callRpc("anvil_setBalance", [freshAccount, "0xde0b6b3a7640000"]);
    const abiWords = [freshAccount.slice(2), (25n * baseUnitsPerToken).toString(16)];
    const data = `0x40c10f19${abiWords.map((abiWord) => abiWord.padStart(64, "0")).join("")}`;
    const tokenAddress = rig.chain.getTokenAddress("usdc");
    await rig.chain.callRpc("eth_sendTransaction", [{ from: account, to: tokenAddress, data }]);
    return freshAccount;
  };

  return { rig, createPayer, createFreshAccount, expectPaymentKinds, expectRejectionExplained };
};
