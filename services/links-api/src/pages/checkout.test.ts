import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openCheckoutTab } from "../testing/checkout-tab.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const chainId = "8453";
const payer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

const rig = useRig(() => openRig({ settlementChains: [chainId] }));

const createLink = () => rig.createLink(rig.giveKey(sampleAccount()), { toAmount: "25" });

type Wallet = NonNullable<Parameters<typeof openCheckoutTab>[0]["wallet"]>;

const openTab = (linkId: string, wallet?: Wallet) =>
  openCheckoutTab({
    linkId,
    chainId,
    get: (path) => rig.call(path),
    ...(wallet === undefined ? {} : { wallet }),
  });

/** A wallet that answers from a table, and what it was asked to send. */
const fakeWallet = (answers: Record<string, unknown>) => {
  const sent: unknown[] = [];
  const wallet: Wallet = async ({ method, params }) => {
    if (method === "eth_sendTransaction") sent.push(params[0]);
    if (!(method in answers)) throw new Error("refused by its owner");
    return answers[method];
  };
  return { wallet, sent };
};

const onBase = { eth_requestAccounts: [payer], eth_chainId: "0x2105" };

describe("the script of the checkout", () => {
  test("shows a payment that is on its way, and loads the page anew once the link has changed", async () => {
    const linkId = await createLink();
    const tab = await openTab(linkId);
    expect(tab.hasButton()).toBe(false);
    await tab.lookAgain();
    expect([tab.said(), tab.reloads()]).toEqual(["", 0]);
    const seen = sampleSettlement(linkId, { amount: "5", status: "processing" });
    await rig.settle(seen);
    await tab.lookAgain();
    expect(tab.said()).toContain("A payment of 5 USDC was seen");
    expect(tab.reloads()).toBe(0);
    await rig.settle({ ...seen, version: 2, status: "settled" });
    await tab.lookAgain();
    expect(tab.reloads()).toBe(1);
  });

  test("has the wallet send the steps as they are, each once the one before is in a block", async () => {
    const linkId = await createLink();
    const { wallet, sent } = fakeWallet({
      ...onBase,
      eth_sendTransaction: "0x1",
      eth_getTransactionReceipt: { status: "0x1" },
    });
    const tab = await openTab(linkId, wallet);
    expect(tab.hasButton()).toBe(true);
    await tab.clickPay();
    const { instructions } = (await rig.call(`/checkout/payment-links/${linkId}`)).json;
    expect(sent).toEqual(
      instructions.steps.map(({ to, data }: { to: string; data: string }) => ({
        from: payer,
        to,
        data,
        value: "0x0",
      })),
    );
    expect(tab.said()).toContain("Paid.");
    expect(tab.isButtonEnabled()).toBe(false);
  });

  test.each([
    ["a wallet on another network", { eth_chainId: "0x1", wallet_switchEthereumChain: null }, 0],
    ["an owner who refuses", {}, 1],
    [
      "an allowance that the network refuses",
      { eth_sendTransaction: "0x1", eth_getTransactionReceipt: { status: "0x0" } },
      1,
    ],
  ])(
    "given %s, does not go on to pay, says so and can be tried again",
    async (_name, more, count) => {
      const { wallet, sent } = fakeWallet({ ...onBase, ...more });
      const tab = await openTab(await createLink(), wallet);
      await tab.clickPay();
      expect(sent).toHaveLength(count);
      expect(tab.said()).toMatch(/another network|did not carry this out|refused the transaction/);
      expect(tab.isButtonEnabled()).toBe(true);
    },
  );

  test("given a link that was completed meanwhile, sends nothing", async () => {
    const linkId = await createLink();
    const { wallet, sent } = fakeWallet(onBase);
    const tab = await openTab(linkId, wallet);
    await rig.settle(sampleSettlement(linkId, { amount: "25" }));
    await tab.clickPay();
    expect([sent, tab.said()]).toEqual([[], "This link takes no payment right now."]);
  });
});
