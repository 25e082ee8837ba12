import { expect } from "@jest/globals";
import { gzipSync } from "node:zlib";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { clickPay, canPay } from "../rig/create-checkout.ts";
import type { TronWallet } from "../rig/tron-wallet.ts";
import {
  type TronTransaction,
  transactionChanges,
  differentTransactionText,
  walletRejections,
  paymentSeenText,
  useTronPayers,
} from "../rig/use-tron-payers.ts";
import { WalletError, neverRespond } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const firstLoadBytesMax = 40 * 1024;
/** Of three seconds each, for a transaction that lasts a minute; two blocks behind the head one is solid. */
const blocksUntilHeadIsLate = 21;
/** More than the time in which a transaction of the wallet's expires. */
const blocksUntilExpired = 30;

const {
  rig,
  createPayer,
  createFundedPayer,
  startPayment,
  expectNothingPaid,
  expectStillPending,
  expectRejectionExplained,
  expectChangeNotSigned,
} = useTronPayers();

/** Of what a wallet asks its node to allow and to pay. */
const pathsQueriedFromPage = [
  "wallet/getblockbynum",
  "wallet/getaccount",
  "wallet/getaccountresource",
  "wallet/getchainparameters",
  "wallet/triggerconstantcontract",
  "wallet/broadcasttransaction",
  "walletsolidity/getnowblock",
  "wallet/gettransactioninfobyid",
];

const listTransactionIds = (wallet: TronWallet): string[] =>
  wallet.listSigningRequests().map(({ txID }) => txID);

describe("a payer with a wallet for Tron", () => {
  test("allows the exact amount, pays it, and watches it settle without a reload of their own", async () => {
    const payer = await createPayer();
    await payer.goTo(payer.link.pageUrl);
    expect(await findAxeViolations(payer.page)).toEqual([]);
    const url = `${rig.system.publicUrl}/checkout/payment-links/${payer.link.id}`;
    const { instructions } = (await (await fetch(url)).json()) as {
      instructions: { steps: { to: string; data: string; tron: { feeLimit: string } }[] };
    };
    payer.wallet.setHandler("trx.sign", async (params) => {
      const stepText = `Step ${payer.wallet.listSigningRequests().length} of 2`;
      await payer.waitForText(stepText);
      // Before anything is signed.
      await payer.waitForText("USDC, 1,000 TRX and 0 energy");
      await payer.waitForText("TRX are burnt, and never more than");
      return payer.wallet.callMethod("trx.sign", params);
    });
    await clickPay(payer);
    await payer.waitForText(paymentSeenText);
    expect(payer.wallet.listSigningRequests().map(({ raw_data }) => raw_data)).toMatchObject(
      instructions.steps.map(({ data, tron }) => ({
        fee_limit: Number(tron.feeLimit),
        contract: [{ parameter: { value: { data: data.slice(2) } } }],
      })),
    );
    expect(payer.wallet.countSent()).toBe(2);
    await rig.chain.mine(3);
    await payer.waitForText("This payment link has been paid.");
    expect(await canPay(payer)).toBe(false);
    expect(await rig.system.readLink(payer.link.id)).toMatchObject({
      status: "completed",
      receivedAmount: "25",
    });
  });

  test("signs once where the allowance stands, and is led to the explorer by the chain's own form of a hash", async () => {
    const payer = await createFundedPayer();
    await rig.system.stopWatchers();
    await startPayment(payer);
    const [id = ""] = await waitUntil("the payment", () => {
      const ids = listTransactionIds(payer.wallet);
      return ids.length > 0 ? ids : undefined;
    });
    await payer.waitForText(`Do not pay again. Transaction ${id}`);
    const link = payer.page.getByRole("link", { name: "Look at the transaction on explorer.test" });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(`https://explorer.test/#/transaction/${id}`);
    expect(listTransactionIds(payer.wallet)).toHaveLength(1);
    await rig.system.startWatcher();
    await payer.waitForText(paymentSeenText);
  });

  test("loads less than 40 KiB in all, compressed", async () => {
    const payer = await createFundedPayer();
    const bodies = new Map<string, Promise<Buffer>>();
    payer.page.on("response", (response) => {
      const { pathname } = new URL(response.url());
      if (!pathname.startsWith("/checkout/payment-links/")) bodies.set(pathname, response.body());
    });
    await payer.goTo(payer.link.pageUrl);
    await payer.waitForText("Pay 25 USDC");
    expect([...bodies.keys()]).toContain("/checkout/assets/tron.js");
    const sizes = (await Promise.all(bodies.values())).map((body) => gzipSync(body).length);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(firstLoadBytesMax);
  });
});

describe("one payment, and no second:", () => {
  test("after a reload in the middle, and in another tab", async () => {
    const payer = await createFundedPayer();
    const otherTab = await payer.user.openTab();
    await otherTab.goTo(payer.link.pageUrl);
    payer.wallet.setHandler("trx.sign", neverRespond);
    await startPayment(payer);
    await waitUntil("the wallet is asked", () => payer.wallet.listSigningRequests().length === 1);
    await otherTab.waitForText("Your wallet was asked for this payment");
    await payer.page.reload();
    await payer.waitForText(
      "Your wallet was asked for this payment and has not answered this page.",
    );
    expect([await canPay(payer), await canPay(otherTab)]).toEqual([false, false]);
    expect(await findAxeViolations(payer.page)).toEqual([]);
  });

  test("of two clicks at once", async () => {
    const payer = await createFundedPayer();
    await payer.goTo(payer.link.pageUrl);
    await payer.waitForText("Pay 25 USDC");
    await payer.page.evaluate(`(() => {
      const button = document.querySelector("#wallet");
      button.click();
      button.click();
    })()`);
    await payer.waitForText(paymentSeenText);
    expect([payer.wallet.listSigningRequests().length, payer.wallet.countSent()]).toEqual([1, 1]);
  });

  test("whose answer was lost after it was sent", async () => {
    const payer = await createFundedPayer();
    await rig.system.stopWatchers();
    payer.wallet.setHandler("trx.sendRawTransaction", async (params) => {
      await payer.wallet.callMethod("trx.sendRawTransaction", params);
      throw new WalletError(-32603, "Network Error");
    });
    await startPayment(payer);
    await payer.waitForText("In a block. Waiting until it is seen here. Do not pay again.");
    expect(await canPay(payer)).toBe(false);
    await rig.system.startWatcher();
    await payer.waitForText(paymentSeenText);
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("until it has expired without a block: then it is gone, and may be paid again", async () => {
    const payer = await createFundedPayer();
    const droppedIds: string[] = [];
    payer.wallet.setHandler("trx.sendRawTransaction", ([signedTransaction]) => {
      droppedIds.push((signedTransaction as { txID: string }).txID);
      return { result: true };
    });
    await startPayment(payer);
    await payer.waitForText("Sent. Waiting for the network. Do not pay again.");
    expect(await canPay(payer)).toBe(false);
    payer.wallet.setHandler("trx.sendRawTransaction");
    await payer.page.reload();
    await expectStillPending(payer);
    // The head is of a later time than the payment's end now, and the last solid block is not.
    await rig.chain.mine(blocksUntilHeadIsLate);
    await expectStillPending(payer);
    await rig.chain.mine(blocksUntilExpired);
    await payer.waitForText("No block took your payment in its time, and none can any more.");
    await clickPay(payer);
    await payer.waitForText(paymentSeenText);
    expect(listTransactionIds(payer.wallet)).toEqual([
      ...droppedIds,
      expect.not.stringMatching(droppedIds[0] ?? ""),
    ]);
  });
});

describe("a payer", () => {
  test.each(walletRejections.filter(([name]) => /declines to sign/.test(name)))(
    "%s is told so, and may try again",
    (_case, rejectInWallet, expectedText) => expectRejectionExplained(rejectInWallet, expectedText),
  );
});

describe("what a wallet is asked to sign is what the service asks for:", () => {
  test.each(transactionChanges.slice(0, 1))("not %s", (_case, pattern, replacement) =>
    expectChangeNotSigned(pattern, replacement),
  );

  test("nor is another one sent that it signed instead", async () => {
    const payer = await createFundedPayer();
    payer.wallet.setHandler("trx.sign", ([transaction]) => ({
      ...(transaction as TronTransaction),
      raw_data_hex: "00",
      signature: ["00"],
    }));
    await startPayment(payer);
    await expectNothingPaid(payer, differentTransactionText);
    expect(payer.wallet.countSent()).toBe(0);
  });
});

describe("a wallet that asks its node from within the page", () => {
  test("pays, as the page's policy lets it ask the chain's usual node and nobody else", async () => {
    const payer = await createPayer({ queriesFromPage: true });
    await startPayment(payer);
    await payer.waitForText(paymentSeenText);
    await rig.chain.mine(3);
    await payer.waitForText("This payment link has been paid.");
    expect(rig.node.requestedPaths).toEqual(expect.arrayContaining(pathsQueriedFromPage));
    // An open page can keep reading the chain.
    await payer.page.close();
    const violations = payer.user.violations.splice(0);
    expect(violations.length).toBeGreaterThan(pathsQueriedFromPage.length);
    expect(
      violations.filter((violation) => !violation.startsWith(`wanted ${rig.node.origin}/wallet`)),
    ).toEqual([]);
  });
});

describe("the limits of energy", () => {
  /** The most that Tron's dynamic energy makes of a much-used contract: `getDynamicEnergyMaxFactor`, 34000. */
  const energyFactorMax = 4.4;

  test("hold for what the calls execute, times the most that the network makes of it", async () => {
    const payer = await createPayer();
    const usedEnergies: number[] = [];
    payer.wallet.setHandler("transactionBuilder.triggerConstantContract", async (params) => {
      const walletResponse = await payer.wallet.callMethod(
        "transactionBuilder.triggerConstantContract",
        params,
      );
      const [, selector] = params;
      const { energy_used } = walletResponse as { energy_used: number };
      if (!/^(balanceOf|allowance)/.test(String(selector))) usedEnergies.push(energy_used);
      return walletResponse;
    });
    await startPayment(payer);
    await payer.waitForText(paymentSeenText);
    const url = `${rig.system.publicUrl}/checkout/payment-links/${payer.link.id}`;
    const { instructions } = (await (await fetch(url)).json()) as {
      instructions: { steps: { tron: { energyMax: number } }[] };
    };
    expect(usedEnergies).toHaveLength(2);
    for (const [index, { tron }] of instructions.steps.entries()) {
      expect((usedEnergies[index] ?? Infinity) * energyFactorMax).toBeLessThan(tron.energyMax);
    }
  });
});
