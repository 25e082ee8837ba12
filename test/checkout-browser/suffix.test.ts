import { expect } from "@jest/globals";
import { needingChromium } from "../rig/find-chromium.ts";
import { clickPay, holdLooks, mayPay, payUnmined, paymentsOf } from "../rig/open-checkout.ts";
import { account, refusals, useTransfers } from "../rig/use-transfers.ts";
import { failWith } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

const { rig, openPayer, openFreshAccount, expectKinds, expectToldWhy } = useTransfers();

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

  test.each(refusals.slice(0, 1))(
    "and refuses (%i) is told so, and nothing is said to have happened",
    (code, words) => expectToldWhy(code, words),
  );

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

/** One code, "wallet", of ERC-8021's schema 0. */
const attribution = `77616c6c65740600${"8021".repeat(8)}`;

describe("a payer whose wallet writes its attribution behind the calldata (rule CHAIN-25)", () => {
  const changed = "Your wallet has changed the payment";
  const attribute = (payer: Awaited<ReturnType<typeof openPayer>>) =>
    payer.wallet.decide("eth_sendTransaction", ([sent]) => {
      const { data, ...rest } = sent as { data: string };
      const attributed = { ...rest, data: `${data}${attribution}` };
      return payer.wallet.answer("eth_sendTransaction", [attributed]);
    });

  test("completes the link, and is not told that the wallet changed the payment", async () => {
    const payer = await openPayer();
    attribute(payer);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("A payment of 25 USDC was seen and is being confirmed. Do not pay again.");
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(await payer.text()).not.toContain(changed);
  });

  // Guards against paying twice: the page recognizes its own call in what the wallet sent.
  test.each([
    ["a transfer that names the link", () => account, attribution, false],
    ["a transfer, whose link it drops,", () => account, "00", true],
    ["a payment through the contract", () => rig.chain.payers[0], attribution, false],
    [
      "a payment through the contract, with bytes of its own,",
      () => rig.chain.payers[0],
      "00",
      false,
    ],
  ])("and then speeds up %s is offered no other", async (_what, from, appended, isChanged) => {
    const payer = await openPayer({ account: from() });
    // The page must know it from its wallet alone.
    await payer.page.route("**/checkout/payment-links/*/events*", () => undefined);
    const hash = await payUnmined(rig, payer);
    await holdLooks(payer);
    const [former] = paymentsOf(payer.wallet);
    const { nonce } = (await rig.chain.ask("eth_getTransactionByHash", [hash])) as {
      nonce: string;
    };
    const faster = {
      ...former,
      data: `${former?.data}${appended}`,
      nonce,
      maxFeePerGas: "0x2540be400",
      maxPriorityFeePerGas: "0x2540be400",
    };
    const hashNow = String(await rig.chain.ask("eth_sendTransaction", [faster]));
    await rig.chain.mine(2);
    await payer.see(isChanged ? changed : `Transaction ${hashNow}`);
    expect((await payer.text()).includes(changed)).toBe(isChanged);
    expect(await mayPay(payer)).toBe(false);
  });
});

describe("the first way that a wallet can go is asked for:", () => {
  test("a batch, where it is offered (rule CHAIN-13)", async () => {
    const payer = await openPayer({ batching: "supported" });
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect([payer.wallet.sent(), payer.wallet.batches().length]).toEqual([[], 1]);
  });

  test("two steps, where a batch is offered and then refused for want of an upgrade", async () => {
    const payer = await openPayer({ batching: "ready" });
    payer.wallet.decide("wallet_sendCalls", failWith(5750));
    await expectKinds(payer, ["by contract", "by contract"], 1);
  });

  test("a batch, where a smart account that is not deployed yet offers it in the older form (rule CALLER-32)", async () => {
    const payer = await openPayer({ batching: "supported" });
    payer.wallet.decide("wallet_getCapabilities", () => ({
      "0x539": { atomicBatch: { supported: true } },
    }));
    await expectKinds(payer, [], 1);
  });

  test.each<[string, unknown]>([
    ["no batch", { "0x539": { atomic: { status: "unsupported" } } }],
    ["nothing on this chain", {}],
  ])("two steps, where the wallet reports capabilities, and %s", async (_what, capabilities) => {
    const payer = await openPayer();
    payer.wallet.decide("wallet_getCapabilities", () => capabilities);
    await expectKinds(payer, ["by contract", "by contract"]);
  });

  test("two steps, where the account has sent nothing yet, as a contract that is not deployed", async () => {
    const fresh = await openFreshAccount();
    await expectKinds(await openPayer({ account: fresh }), ["by contract", "by contract"]);
  });

  test("two steps, where the account has code that may send by another call (rule CHAIN-13)", async () => {
    await rig.chain.ask("anvil_setCode", [account, `0xef0100${"11".repeat(20)}`]);
    await expectKinds(await openPayer(), ["by contract", "by contract"]);
  });
});
