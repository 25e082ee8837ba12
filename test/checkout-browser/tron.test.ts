import { expect } from "@jest/globals";
import { gzipSync } from "node:zlib";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { clickPay, mayPay } from "../rig/open-checkout.ts";
import type { TronWallet } from "../rig/tron-wallet.ts";
import {
  type Made,
  changes,
  different,
  refusals,
  seen,
  useTronPayers,
} from "../rig/use-tron-payers.ts";
import { WalletError, never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

const firstLoadBytesMax = 40 * 1024;
/** Of three seconds each, for a transaction that lasts a minute; two blocks behind the head one is solid. */
const blocksUntilHeadIsLate = 21;
/** More than the time in which a transaction of the wallet's expires. */
const blocksUntilExpired = 30;

const {
  rig,
  openPayer,
  openRichPayer,
  goToPay,
  expectNothingPaid,
  expectHeld,
  expectToldWhy,
  expectNotSigned,
} = useTronPayers();

/** Of what a wallet asks its node to allow and to pay. */
const askedInPage = [
  "wallet/getblockbynum",
  "wallet/getaccount",
  "wallet/getaccountresource",
  "wallet/getchainparameters",
  "wallet/triggerconstantcontract",
  "wallet/broadcasttransaction",
  "walletsolidity/getnowblock",
  "wallet/gettransactioninfobyid",
];

const idsOf = (wallet: TronWallet): string[] => wallet.toSign().map(({ txID }) => txID);

describe("a payer with a wallet for Tron", () => {
  test("allows the exact amount, pays it, and watches it settle without a reload of their own", async () => {
    const payer = await openPayer();
    await payer.goTo(payer.link.pageUrl);
    expect(await findAxeFaults(payer.page)).toEqual([]);
    const url = `${rig.system.publicUrl}/checkout/payment-links/${payer.link.id}`;
    const { instructions } = (await (await fetch(url)).json()) as {
      instructions: { steps: { to: string; data: string; tron: { feeLimit: string } }[] };
    };
    payer.wallet.decide("trx.sign", async (params) => {
      const step = `Step ${payer.wallet.toSign().length} of 2`;
      await payer.see(step);
      // Before anything is signed.
      await payer.see("USDC, 1,000 TRX and 0 energy");
      await payer.see("TRX are burnt, and never more than");
      return payer.wallet.answer("trx.sign", params);
    });
    await clickPay(payer);
    await payer.see(seen);
    expect(payer.wallet.toSign().map(({ raw_data }) => raw_data)).toMatchObject(
      instructions.steps.map(({ data, tron }) => ({
        fee_limit: Number(tron.feeLimit),
        contract: [{ parameter: { value: { data: data.slice(2) } } }],
      })),
    );
    expect(payer.wallet.countSent()).toBe(2);
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(await mayPay(payer)).toBe(false);
    expect(await rig.system.show(payer.link.id)).toMatchObject({
      status: "completed",
      receivedAmount: "25",
    });
  });

  test("signs once where the allowance stands, and is led to the explorer by the chain's own form of a hash", async () => {
    const payer = await openRichPayer();
    await rig.system.stopWatchers();
    await goToPay(payer);
    const [id = ""] = await waitUntil("the payment", () => {
      const ids = idsOf(payer.wallet);
      return ids.length > 0 ? ids : undefined;
    });
    await payer.see(`Do not pay again. Transaction ${id}`);
    const link = payer.page.getByRole("link", { name: "Look at the transaction on explorer.test" });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(`https://explorer.test/#/transaction/${id}`);
    expect(idsOf(payer.wallet)).toHaveLength(1);
    await rig.system.startWatcher();
    await payer.see(seen);
  });

  test("loads less than 40 KiB in all, compressed", async () => {
    const payer = await openRichPayer();
    const bodies = new Map<string, Promise<Buffer>>();
    payer.page.on("response", (response) => {
      const { pathname } = new URL(response.url());
      if (!pathname.startsWith("/checkout/payment-links/")) bodies.set(pathname, response.body());
    });
    await payer.goTo(payer.link.pageUrl);
    await payer.see("Pay 25 USDC");
    expect([...bodies.keys()]).toContain("/checkout/assets/tron.js");
    const sizes = (await Promise.all(bodies.values())).map((body) => gzipSync(body).length);
    expect(sizes.reduce((sum, one) => sum + one, 0)).toBeLessThan(firstLoadBytesMax);
  });
});

describe("one payment, and no second:", () => {
  test("after a reload in the middle, and in another tab", async () => {
    const payer = await openRichPayer();
    const other = await payer.person.openTab();
    await other.goTo(payer.link.pageUrl);
    payer.wallet.decide("trx.sign", never);
    await goToPay(payer);
    await waitUntil("the wallet is asked", () => payer.wallet.toSign().length === 1);
    await other.see("Your wallet was asked for this payment");
    await payer.page.reload();
    await payer.see("Your wallet was asked for this payment and has not answered this page.");
    expect([await mayPay(payer), await mayPay(other)]).toEqual([false, false]);
    expect(await findAxeFaults(payer.page)).toEqual([]);
  });

  test("of two clicks at once", async () => {
    const payer = await openRichPayer();
    await payer.goTo(payer.link.pageUrl);
    await payer.see("Pay 25 USDC");
    await payer.page.evaluate(`(() => {
      const button = document.querySelector("#wallet");
      button.click();
      button.click();
    })()`);
    await payer.see(seen);
    expect([payer.wallet.toSign().length, payer.wallet.countSent()]).toEqual([1, 1]);
  });

  test("whose answer was lost after it was sent", async () => {
    const payer = await openRichPayer();
    await rig.system.stopWatchers();
    payer.wallet.decide("trx.sendRawTransaction", async (params) => {
      await payer.wallet.answer("trx.sendRawTransaction", params);
      throw new WalletError(-32603, "Network Error");
    });
    await goToPay(payer);
    await payer.see("In a block. Waiting until it is seen here. Do not pay again.");
    expect(await mayPay(payer)).toBe(false);
    await rig.system.startWatcher();
    await payer.see(seen);
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("until it has expired without a block: then it is gone, and may be paid again", async () => {
    const payer = await openRichPayer();
    const lost: string[] = [];
    payer.wallet.decide("trx.sendRawTransaction", ([sent]) => {
      lost.push((sent as { txID: string }).txID);
      return { result: true };
    });
    await goToPay(payer);
    await payer.see("Sent. Waiting for the network. Do not pay again.");
    expect(await mayPay(payer)).toBe(false);
    payer.wallet.decide("trx.sendRawTransaction");
    await payer.page.reload();
    await expectHeld(payer);
    // The head is of a later time than the payment's end now, and the last solid block is not.
    await rig.chain.mine(blocksUntilHeadIsLate);
    await expectHeld(payer);
    await rig.chain.mine(blocksUntilExpired);
    await payer.see("No block took your payment in its time, and none can any more.");
    await clickPay(payer);
    await payer.see(seen);
    expect(idsOf(payer.wallet)).toEqual([...lost, expect.not.stringMatching(lost[0] ?? "")]);
  });
});

describe("a payer", () => {
  test.each(refusals.filter(([who]) => /declines to sign/.test(who)))(
    "%s is told so, and may try again",
    (_who, refuse, words) => expectToldWhy(refuse, words),
  );
});

describe("what a wallet is asked to sign is what the service asks for:", () => {
  test.each(changes.slice(0, 1))("not %s", (_what, part, instead) =>
    expectNotSigned(part, instead),
  );

  test("nor is another one sent that it signed instead", async () => {
    const payer = await openRichPayer();
    payer.wallet.decide("trx.sign", ([asked]) => ({
      ...(asked as Made),
      raw_data_hex: "00",
      signature: ["00"],
    }));
    await goToPay(payer);
    await expectNothingPaid(payer, different);
    expect(payer.wallet.countSent()).toBe(0);
  });
});

describe("a wallet that asks its node from within the page", () => {
  test("pays, as the page's policy lets it ask the chain's usual node and nobody else", async () => {
    const payer = await openPayer({ asksInPage: true });
    await goToPay(payer);
    await payer.see(seen);
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(rig.node.asked).toEqual(expect.arrayContaining(askedInPage));
    const wanted = payer.person.faults.splice(0);
    expect(wanted.length).toBeGreaterThan(askedInPage.length);
    expect(wanted.filter((fault) => !fault.startsWith(`wanted ${rig.node.origin}/wallet`))).toEqual(
      [],
    );
  });
});

describe("the limits of energy", () => {
  /** The most that Tron's dynamic energy makes of a much-used contract: `getDynamicEnergyMaxFactor`, 34000. */
  const timesMax = 4.4;

  test("hold for what the calls execute, times the most that the network makes of it", async () => {
    const payer = await openPayer();
    const used: number[] = [];
    payer.wallet.decide("transactionBuilder.triggerConstantContract", async (params) => {
      const answer = await payer.wallet.answer(
        "transactionBuilder.triggerConstantContract",
        params,
      );
      const [, selector] = params;
      const { energy_used } = answer as { energy_used: number };
      if (!/^(balanceOf|allowance)/.test(String(selector))) used.push(energy_used);
      return answer;
    });
    await goToPay(payer);
    await payer.see(seen);
    const url = `${rig.system.publicUrl}/checkout/payment-links/${payer.link.id}`;
    const { instructions } = (await (await fetch(url)).json()) as {
      instructions: { steps: { tron: { energyMax: number } }[] };
    };
    expect(used).toHaveLength(2);
    for (const [at, { tron }] of instructions.steps.entries()) {
      expect((used[at] ?? Infinity) * timesMax).toBeLessThan(tron.energyMax);
    }
  });
});
