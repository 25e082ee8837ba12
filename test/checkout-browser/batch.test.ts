import { afterAll, beforeAll, expect } from "@jest/globals";
import { needingChromium } from "../rig/find-chromium.ts";
import { clickPay, countAsked, holdLooks, mayPay } from "../rig/open-checkout.ts";
import { account, emptyAnswers, noBatchCodes, refusals, useBatches } from "../rig/use-batches.ts";
import { WalletError, never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

const {
  rig,
  openPayer,
  payUnmined,
  expectNoSecondPayment,
  expectOneTransaction,
  expectToldWhy,
  expectOneAfterTheOther,
  expectNotOffered,
} = useBatches();

describe("a payer whose wallet carries out several calls as one", () => {
  test("(supported) allows and pays in one transaction, which settles", () =>
    expectOneTransaction("supported"));

  test.each(refusals.slice(0, 1))(
    "%s is told so, and may try again",
    (_who, method, answer, words) => expectToldWhy(method, answer, words),
  );

  test.each(noBatchCodes.slice(0, 1))(
    "that then cannot (%i) allows and pays one after the other",
    (code) => expectOneAfterTheOther(code),
  );
});

describe("a batch that a wallet was asked for, while nobody watches the chain (rule CHAIN-13)", () => {
  beforeAll(() => rig.system.stopWatchers());
  afterAll(() => rig.system.startWatcher());

  test("and never told of is remembered, until the person says that it is gone", async () => {
    const tab = await openPayer();
    const other = await tab.person.openTab();
    await other.goTo(tab.link.pageUrl);
    expect(await mayPay(other)).toBe(true);
    tab.wallet.decide("wallet_sendCalls", never);
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await other.see("Your wallet was asked for this payment");
    expect(await mayPay(other)).toBe(false);
    await expectNoSecondPayment(tab);
    await tab.click("It never arrived, or was cancelled");
    await tab.click("It is gone, let me pay again");
    tab.wallet.decide("wallet_sendCalls");
    await clickPay(tab);
    await tab.see("Do not pay again. Transaction 0x");
    expect(countAsked(tab)).toBe(2);
  });

  test("is remembered over a reload and in another tab, with its transaction once there is one", async () => {
    const tab = await openPayer();
    const other = await tab.person.openTab();
    await other.goTo(tab.link.pageUrl);
    const [, hash] = await payUnmined(tab);
    await other.see("Do not pay again");
    expect(await mayPay(other)).toBe(false);
    await expectNoSecondPayment(tab);
    await rig.chain.mine();
    await tab.see(
      `In a block. Waiting until it is seen here. Do not pay again. Transaction ${hash}`,
    );
    await holdLooks(tab);
    await expectNoSecondPayment(tab);
  });

  test("by a wallet that then failed is found by its own name", async () => {
    const tab = await openPayer();
    tab.wallet.decide("wallet_sendCalls", async (params) => {
      await tab.wallet.answer("wallet_sendCalls", params);
      throw new WalletError(-32603, "timeout");
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.see("Do not pay again. Transaction 0x");
    await expectNoSecondPayment(tab);
  });

  test("by a wallet of the older form is followed under the wallet's own id (rule CALLER-32)", async () => {
    const tab = await openPayer();
    const { wallet } = tab;
    const ownIds = new Map<unknown, string>();
    wallet.decide("wallet_getCapabilities", () => ({
      "0x0539": { atomicBatch: { supported: true } },
    }));
    wallet.decide("wallet_sendCalls", async (params) => {
      const { id } = (await wallet.answer("wallet_sendCalls", params)) as { id: string };
      ownIds.set("the wallet's own id", id);
      return "the wallet's own id";
    });
    wallet.decide("wallet_getCallsStatus", async ([id]) => {
      const known = ownIds.get(id);
      if (known === undefined) throw new WalletError(-32603, "unknown");
      const { receipts } = (await wallet.answer("wallet_getCallsStatus", [known])) as {
        receipts?: unknown;
      };
      return { status: receipts === undefined ? "PENDING" : "CONFIRMED", receipts };
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.see("In a block. Waiting until it is seen here. Do not pay again. Transaction 0x");
    expect([wallet.batches().length, wallet.sent()]).toEqual([1, []]);
    await expectNoSecondPayment(tab);
  });

  test.each(emptyAnswers.slice(0, 1))("and %s is not offered again", (_what, answer) =>
    expectNotOffered(answer),
  );

  test.each([
    [400, "Your payment failed: it is not on the chain. You can pay again."],
    [500, "The network refused your transaction; nothing was paid by it. You can pay again."],
  ])(
    "and of which the wallet says %i can be paid again, and the page says why",
    async (status, words) => {
      const tab = await openPayer();
      await payUnmined(tab);
      await tab.page.reload();
      expect(await mayPay(tab)).toBe(false);
      tab.wallet.decide("wallet_getCallsStatus", ([id]) => ({ id, status }));
      await tab.see(words);
      expect(await mayPay(tab)).toBe(true);
    },
  );

  test("and was carried out in part can be paid again only if its last call was not", async () => {
    const tab = await openPayer();
    const [, hash] = await payUnmined(tab);
    const tell = (status: string) =>
      tab.wallet.decide("wallet_getCallsStatus", () => ({
        status: 600,
        receipts: [{ transactionHash: hash, status }],
      }));
    tell("0x1");
    await tab.see(`Do not pay again. Transaction ${hash}`);
    expect(await mayPay(tab)).toBe(false);
    tell("0x0");
    await tab.see("The network refused your transaction; nothing was paid by it.");
    expect(await mayPay(tab)).toBe(true);
  });

  test("and was sped up is followed under its new hash, also where the former was in a block", async () => {
    const tab = await openPayer();
    const [id, hash] = await payUnmined(tab);
    tab.wallet.decide("wallet_getCallsStatus", () => ({
      status: 200,
      receipts: [{ transactionHash: hash, status: "0x1" }],
    }));
    await tab.see(`Transaction ${hash}`);
    tab.wallet.decide("wallet_getCallsStatus");
    const sent = (await rig.chain.ask("eth_getTransactionByHash", [hash])) as {
      nonce: string;
      input: string;
      gas: string;
    };
    const faster = String(
      await rig.chain.ask("eth_sendTransaction", [
        {
          from: account,
          to: account,
          data: sent.input,
          gas: sent.gas,
          nonce: sent.nonce,
          maxFeePerGas: "0x2540be400",
          maxPriorityFeePerGas: "0x2540be400",
        },
      ]),
    );
    tab.wallet.batchHashes.set(id, faster);
    await rig.chain.mine(2);
    await tab.see(`Transaction ${faster}`);
    await expectNoSecondPayment(tab);
  });
});
