import { afterEach, beforeEach, expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingChromium } from "../rig/find-chromium.ts";
import { type Payer, clickPay, mayPay, payUnmined, paymentsOf } from "../rig/open-checkout.ts";
import { useOwnCheckout } from "../rig/use-checkout.ts";
import { failWith, never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

/** Known to the node; before each test it has tokens, allows nothing and has no code. */
const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const units = 1_000_000n;

const rig = useOwnCheckout({ readsTransfers: true });
beforeEach(async () => {
  await rig.chain.ask("anvil_setCode", [account, "0x"]);
  await rig.mint(account, 25n * units);
  const spender = devnet.erc20FeeProxy.slice(2).padStart(64, "0");
  const data = `0x095ea7b3${spender}${"0".repeat(64)}`;
  const to = rig.chain.addressOf("usdc");
  await rig.chain.ask("eth_sendTransaction", [{ from: account, to, data }]);
});
afterEach(async () => {
  await rig.chain.ask("evm_setAutomine", [true]);
  await rig.chain.mine();
});

type Order = Partial<Parameters<typeof rig.openPayer>[0]>;

/** Somebody in front of a link whose owner's address the watcher knows. */
const openPayer = async (order: Order = {}): Promise<Payer> => {
  const payer = await rig.openPayer({ toAmount: "25", account, ...order });
  await rig.system.hearsOf(payer.link.to);
  return payer;
};

const kindsOf = (payer: Payer) =>
  payer.wallet.sent().map(({ data }) => (data.startsWith("0xa9059cbb") ? "direct" : "by contract"));

describe("a payer whose wallet makes no batches", () => {
  test("signs once: a transfer that names the link, which completes it", async () => {
    const payer = await openPayer();
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("A payment of 25 USDC was seen and is being confirmed. Do not pay again.");
    expect(payer.wallet.sent()).toMatchObject([
      {
        to: rig.chain.addressOf("usdc"),
        value: "0x0",
        data: expect.stringMatching(new RegExp(`^0xa9059cbb[0-9a-f]{128}${payer.link.reference}$`)),
      },
    ]);
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(await rig.system.show(payer.link.id)).toMatchObject({
      status: "completed",
      receivedAmount: "25",
    });
  });

  test.each([
    [4001, "You declined in your wallet. Nothing was paid; you can try again."],
    [
      4100,
      "Your wallet does not let this page use your account. Unlock it and allow that, then try again.",
    ],
  ])("and refuses (%i) is told so, and nothing is said to have happened", async (code, words) => {
    const payer = await openPayer();
    payer.wallet.decide("eth_sendTransaction", failWith(code));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see(words);
    expect(await mayPay(payer)).toBe(true);
    await payer.page.reload();
    expect(await payer.text()).not.toMatch(/do not pay again|was asked/i);
    expect(await mayPay(payer)).toBe(true);
    payer.wallet.decide("eth_sendTransaction");
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect(kindsOf(payer)).toEqual(["direct", "direct"]);
  });

  test("and has sent it is reminded of it after a reload, in another tab, and in a block", async () => {
    const tab = await openPayer();
    const other = await tab.person.openTab();
    await other.goTo(tab.link.pageUrl);
    expect(await mayPay(other)).toBe(true);
    const hash = await payUnmined(rig, tab);
    await other.see(`Do not pay again. Transaction ${hash}`);
    await tab.page.reload();
    await tab.see(`Do not pay again. Transaction ${hash}`);
    expect([await mayPay(tab), await mayPay(other)]).toEqual([false, false]);
    await rig.chain.mine();
    await tab.see("A payment of 25 USDC was seen and is being confirmed. Do not pay again.");
    expect(await mayPay(tab)).toBe(false);
    expect(paymentsOf(tab.wallet)).toHaveLength(1);
  });

  test("and never told of it is not offered another", async () => {
    const tab = await openPayer();
    tab.wallet.decide("eth_sendTransaction", never);
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await waitUntil("the wallet is asked", () => paymentsOf(tab.wallet).length === 1);
    await tab.page.reload();
    await tab.see("Your wallet was asked for this payment");
    expect(await mayPay(tab)).toBe(false);
  });

  // Guards against a payer who waits for ever: the money is there, and the link's name is not.
  test("but one that writes its own calldata is told that the owner has to assign it", async () => {
    const tab = await openPayer();
    tab.wallet.decide("eth_sendTransaction", ([sent]) => {
      const { data, ...rest } = sent as { data: string };
      return tab.wallet.answer("eth_sendTransaction", [{ ...rest, data: data.slice(0, -32) }]);
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.see("Your wallet has changed the payment: the money arrived");
    expect(await mayPay(tab)).toBe(false);
    await rig.chain.mine(3);
    await rig.system.settleAll();
    expect(await rig.system.countDeposits(tab.link.to)).toBe(1);
    expect(await rig.system.show(tab.link.id)).toMatchObject({ status: "active", payments: [] });
  });
});

describe("the first way that a wallet can go is asked for:", () => {
  const expectKinds = async (payer: Payer, kinds: readonly string[]): Promise<void> => {
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect([kindsOf(payer), payer.wallet.batches().length]).toEqual([kinds, 0]);
  };

  test("a batch, where it is offered (rule CHAIN-13)", async () => {
    const payer = await openPayer({ batching: "supported" });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect([payer.wallet.sent(), payer.wallet.batches().length]).toEqual([[], 1]);
  });

  test("a transfer, where a batch is offered and then refused for want of an upgrade", async () => {
    const payer = await openPayer({ batching: "ready" });
    payer.wallet.decide("wallet_sendCalls", failWith(5750));
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect(kindsOf(payer)).toEqual(["direct"]);
  });

  test("two steps, where the account has code that may send by another call (rule CHAIN-13)", async () => {
    await rig.chain.ask("anvil_setCode", [account, `0xef0100${"11".repeat(20)}`]);
    await expectKinds(await openPayer(), ["by contract", "by contract"]);
  });

  test("two steps, where nobody says whether it has", async () => {
    const payer = await openPayer();
    payer.wallet.decide("eth_getCode", failWith(-32601));
    await expectKinds(payer, ["by contract", "by contract"]);
  });

  test("one payment through the contract, where the allowance stands already", async () => {
    const payer = await openPayer({ account: rig.chain.payers[0] });
    await expectKinds(payer, ["by contract"]);
  });
});
