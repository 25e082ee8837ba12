import { afterEach, beforeEach, expect } from "@jest/globals";
import { randomBytes } from "node:crypto";
import {
  type Checkout,
  type Payer,
  clickPay,
  canPay,
  showsPendingPayment,
  blockStatusPolling,
  sendUnminedPayment,
  listPaymentRequests,
} from "../rig/create-checkout.ts";
import { useOwnCheckout } from "../rig/use-checkout.ts";
import { failWith } from "../rig/wallet.ts";
import { requireChromium } from "../rig/require-chromium.ts";

const { describe, describeSoak, test } = requireChromium();

/** An account of the node. Before each test, it has tokens, a zero allowance and no code. */
const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const baseUnitsPerToken = 1_000_000n;

type PayerOptions = Partial<Parameters<Checkout["createPayer"]>[0]>;

const rig = useOwnCheckout({ readsTransfers: true });
beforeEach(async () => {
  await rig.chain.callRpc("anvil_setCode", [account, "0x"]);
  await rig.mint(account, 25n * baseUnitsPerToken);
  await rig.approve(account, 0n);
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

const expectPaymentKinds = async (
  payer: Payer,
  expectedKinds: readonly string[],
  expectedBatchCount = 0,
): Promise<void> => {
  await payer.startPayment("Do not pay again");
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
  await rig.mint(freshAccount, 25n * baseUnitsPerToken, account);
  return freshAccount;
};

describe("a payer whose wallet has no batches", () => {
  test("signs once: a transfer that names the link and completes it", async () => {
    const payer = await createPayer();
    await payer.startPayment("Payment of 25 USDC detected. Do not pay again.");
    expect(payer.wallet.listSentTransactions()).toMatchObject([
      {
        to: rig.chain.getTokenAddress("usdc"),
        value: "0x0",
        data: expect.stringMatching(new RegExp(`^0xa9059cbb[0-9a-f]{128}${payer.link.reference}$`)),
      },
    ]);
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(await rig.system.readLink(payer.link.id)).toMatchObject({
      status: "completed",
      receivedAmount: "25",
    });
  });

  test("who rejects the payment sees the reason, and the page reports no payment", async () => {
    const payer = await createPayer();
    payer.wallet.setHandler("eth_sendTransaction", failWith(4001));
    await payer.startPayment("You rejected the request. Nothing was paid. You can try again.");
    expect(await canPay(payer)).toBe(true);
    await payer.page.reload();
    expect(await showsPendingPayment(payer)).toBe(false);
    expect(await canPay(payer)).toBe(true);
    payer.wallet.setHandler("eth_sendTransaction");
    await clickPay(payer);
    await payer.waitForText("Do not pay again");
    expect(listPaymentKinds(payer)).toEqual(["direct", "direct"]);
  });

  test("sees the sent payment after a reload, in another tab, and once it is in a block", async () => {
    const tab = await createPayer();
    const otherTab = await tab.user.openTab();
    await otherTab.goTo(tab.link.pageUrl);
    expect(await canPay(otherTab)).toBe(true);
    const hash = await sendUnminedPayment(rig, tab);
    await otherTab.waitForText(`Do not pay again. Transaction ${hash}`);
    await tab.page.reload();
    await tab.waitForText(`Do not pay again. Transaction ${hash}`);
    expect([await canPay(tab), await canPay(otherTab)]).toEqual([false, false]);
    await rig.chain.mine();
    await tab.waitForText("Payment of 25 USDC detected. Do not pay again.");
    expect(await canPay(tab)).toBe(false);
    expect(listPaymentRequests(tab.wallet)).toHaveLength(1);
  });

  // Otherwise, the payer would wait forever: the money has arrived, but the payment no longer names
  // the link.
  test("whose wallet rewrites the calldata sees that the owner has to assign the payment", async () => {
    const tab = await createPayer();
    tab.wallet.setHandler("eth_sendTransaction", ([transaction]) => {
      const { data, ...otherFields } = transaction as { data: string };
      return tab.wallet.callMethod("eth_sendTransaction", [
        { ...otherFields, data: data.slice(0, -32) },
      ]);
    });
    await tab.startPayment("Your wallet changed the payment, so it arrived");
    expect(await canPay(tab)).toBe(false);
    await rig.chain.mine(3);
    await rig.system.settleAll();
    expect(await rig.system.countDeposits(tab.link.to)).toBe(1);
    expect(await rig.system.readLink(tab.link.id)).toMatchObject({
      status: "active",
      payments: [],
    });
  });
});

/** An attribution suffix of ERC-8021's schema 0 with one code, "wallet". */
const attribution = `77616c6c65740600${"8021".repeat(8)}`;

describe("a payer whose wallet appends its attribution to the calldata (rule CHAIN-25)", () => {
  const changedText = "Your wallet changed the payment";
  const appendAttribution = (payer: Awaited<ReturnType<typeof createPayer>>) =>
    payer.wallet.setHandler("eth_sendTransaction", ([transaction]) => {
      const { data, ...otherFields } = transaction as { data: string };
      const attributedTransaction = { ...otherFields, data: `${data}${attribution}` };
      return payer.wallet.callMethod("eth_sendTransaction", [attributedTransaction]);
    });

  test("completes the link and sees no warning about a changed payment", async () => {
    const payer = await createPayer();
    appendAttribution(payer);
    await payer.startPayment("Payment of 25 USDC detected. Do not pay again.");
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(await payer.readText()).not.toContain(changedText);
  });

  // Prevents a double payment: the page recognizes its own call in the transaction that the wallet
  // sent.
  test.each([
    ["a transfer that names the link", () => account, attribution, false],
    ["a transfer that no longer names the link", () => account, "00", true],
    ["a payment through the contract", () => rig.chain.payers[0], attribution, false],
    ["a payment through the contract with extra bytes", () => rig.chain.payers[0], "00", false],
  ])(
    "is not offered a second payment after the wallet sped up %s",
    async (_case, getAccount, appendedBytes, isChangeReported) => {
      const payer = await createPayer({ account: getAccount() });
      // The page must recognize the payment without the service's events.
      await payer.page.route("**/checkout/payment-links/*/events*", () => undefined);
      const hash = await sendUnminedPayment(rig, payer);
      await blockStatusPolling(payer);
      const [originalPayment] = listPaymentRequests(payer.wallet);
      const { nonce } = (await rig.chain.callRpc("eth_getTransactionByHash", [hash])) as {
        nonce: string;
      };
      const replacement = {
        ...originalPayment,
        data: `${originalPayment?.data}${appendedBytes}`,
        nonce,
        maxFeePerGas: "0x2540be400",
        maxPriorityFeePerGas: "0x2540be400",
      };
      const replacementHash = String(await rig.chain.callRpc("eth_sendTransaction", [replacement]));
      await rig.chain.mine(2);
      await payer.waitForText(isChangeReported ? changedText : `Transaction ${replacementHash}`);
      expect((await payer.readText()).includes(changedText)).toBe(isChangeReported);
      expect(await canPay(payer)).toBe(false);
    },
  );
});

describe("the page chooses the first way that the wallet supports:", () => {
  test("a batch if the wallet offers it (rule CHAIN-13)", async () => {
    const payer = await createPayer({ batching: "supported" });
    await payer.startPayment("Do not pay again");
    expect([payer.wallet.listSentTransactions(), payer.wallet.listBatches().length]).toEqual([
      [],
      1,
    ]);
  });

  test("two steps if the wallet offers a batch and then rejects it because an upgrade is missing", async () => {
    const payer = await createPayer({ batching: "ready" });
    payer.wallet.setHandler("wallet_sendCalls", failWith(5750));
    await expectPaymentKinds(payer, ["by contract", "by contract"], 1);
  });

  test("a batch if a smart account that is not deployed yet offers it in the older form (rule CALLER-32)", async () => {
    const payer = await createPayer({ batching: "supported" });
    payer.wallet.setHandler("wallet_getCapabilities", () => ({
      "0x539": { atomicBatch: { supported: true } },
    }));
    await expectPaymentKinds(payer, [], 1);
  });

  test.each<[string, unknown]>([
    ["no batch", { "0x539": { atomic: { status: "unsupported" } } }],
    ["nothing on this chain", {}],
  ])("two steps if the wallet reports capabilities with %s", async (_case, capabilities) => {
    const payer = await createPayer();
    payer.wallet.setHandler("wallet_getCapabilities", () => capabilities);
    await expectPaymentKinds(payer, ["by contract", "by contract"]);
  });

  test("two steps if the account has sent nothing yet, because it may be an undeployed contract", async () => {
    const freshAccount = await createFreshAccount();
    await expectPaymentKinds(await createPayer({ account: freshAccount }), [
      "by contract",
      "by contract",
    ]);
  });

  test("two steps if the account has code that may send through another call (rule CHAIN-13)", async () => {
    await rig.chain.callRpc("anvil_setCode", [account, `0xef0100${"11".repeat(20)}`]);
    await expectPaymentKinds(await createPayer(), ["by contract", "by contract"]);
  });
});

describeSoak("the page chooses the first way that the wallet supports:", () => {
  test("two steps if nothing reports whether the account has code", async () => {
    const payer = await createPayer();
    payer.wallet.setHandler("eth_getCode", failWith(-32601));
    await expectPaymentKinds(payer, ["by contract", "by contract"]);
  });

  test("one payment through the contract if the allowance already exists", async () => {
    const payer = await createPayer({ account: rig.chain.payers[0] });
    await expectPaymentKinds(payer, ["by contract"]);
  });
});
