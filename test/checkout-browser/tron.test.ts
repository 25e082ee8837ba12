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
/**
 * A number of blocks of three seconds each. Together they last longer than a transaction, which
 * expires after one minute. The last solid block is two blocks behind the head.
 */
const blocksUntilHeadIsLate = 21;
/** Enough blocks for the wallet's transactions to expire. */
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

/** The node paths that a wallet requests in order to approve and pay. */
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

describe("a payer with a Tron wallet", () => {
  test("approves the exact amount, pays it, and sees it settle without reloading the page", async () => {
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
      // These texts appear before anything is signed.
      await payer.waitForText("USDC, 1,000 TRX and 0 energy");
      await payer.waitForText("TRX, at most");
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
    await payer.waitForText("Payment complete");
    expect(await canPay(payer)).toBe(false);
    expect(await rig.system.readLink(payer.link.id)).toMatchObject({
      status: "completed",
      receivedAmount: "25",
    });
  });

  test("signs once if the allowance exists, and sees an explorer link with the chain's own form of the hash", async () => {
    const payer = await createFundedPayer();
    await rig.system.stopWatchers();
    await startPayment(payer);
    const [id = ""] = await waitUntil("the transaction is stored", () => {
      const ids = listTransactionIds(payer.wallet);
      return ids.length > 0 ? ids : undefined;
    });
    await payer.waitForText(`Do not pay again. Transaction ${id}`);
    const link = payer.page.getByRole("link", { name: "View transaction on explorer.test" });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(`https://explorer.test/#/transaction/${id}`);
    expect(listTransactionIds(payer.wallet)).toHaveLength(1);
    await rig.system.startWatcher();
    await payer.waitForText(paymentSeenText);
  });

  test("loads less than 40 KiB in total, compressed", async () => {
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

describe("a payment happens only once:", () => {
  test("after a reload in the middle, and in another tab", async () => {
    const payer = await createFundedPayer();
    const otherTab = await payer.user.openTab();
    await otherTab.goTo(payer.link.pageUrl);
    payer.wallet.setHandler("trx.sign", neverRespond);
    await startPayment(payer);
    await waitUntil(
      "the wallet receives the request",
      () => payer.wallet.listSigningRequests().length === 1,
    );
    await otherTab.waitForText("Your wallet has not reported a result.");
    await payer.page.reload();
    await payer.waitForText("Your wallet has not reported a result.");
    expect([await canPay(payer), await canPay(otherTab)]).toEqual([false, false]);
    expect(await findAxeViolations(payer.page)).toEqual([]);
  });

  test("after a double click", async () => {
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

  test("if the response to sending it is lost", async () => {
    const payer = await createFundedPayer();
    await rig.system.stopWatchers();
    payer.wallet.setHandler("trx.sendRawTransaction", async (params) => {
      await payer.wallet.callMethod("trx.sendRawTransaction", params);
      throw new WalletError(-32603, "Network Error");
    });
    await startPayment(payer);
    await payer.waitForText("In a block. Waiting for confirmation. Do not pay again.");
    expect(await canPay(payer)).toBe(false);
    await rig.system.startWatcher();
    await payer.waitForText(paymentSeenText);
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("until it expires without a block; then it is gone and can be paid again", async () => {
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
    // The head is now later than the payment's expiration, but the last solid block is still
    // earlier.
    await rig.chain.mine(blocksUntilHeadIsLate);
    await expectStillPending(payer);
    await rig.chain.mine(blocksUntilExpired);
    await payer.waitForText("Your payment expired before a block included it.");
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
    "%s sees the reason and can try again",
    (_case, rejectInWallet, expectedText) => expectRejectionExplained(rejectInWallet, expectedText),
  );
});

describe("the wallet signs only the requested transaction:", () => {
  test.each(transactionChanges.slice(0, 1))("not %s", (_case, pattern, replacement) =>
    expectChangeNotSigned(pattern, replacement),
  );

  test("and a different transaction that it signed is not sent", async () => {
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

describe("a wallet that queries its node from within the page", () => {
  test("pays, because the page's policy allows requests to the chain's usual node and to no other", async () => {
    const payer = await createPayer({ queriesFromPage: true });
    await startPayment(payer);
    await payer.waitForText(paymentSeenText);
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(rig.node.requestedPaths).toEqual(expect.arrayContaining(pathsQueriedFromPage));
    // Closes the page first, because an open page keeps reading the chain.
    await payer.page.close();
    const violations = payer.user.violations.splice(0);
    expect(violations.length).toBeGreaterThan(pathsQueriedFromPage.length);
    expect(
      violations.filter((violation) => !violation.startsWith(`wanted ${rig.node.origin}/wallet`)),
    ).toEqual([]);
  });
});

describe("energy limits", () => {
  /**
   * The maximum factor by which Tron's dynamic energy increases the cost of a heavily used
   * contract: `getDynamicEnergyMaxFactor`, 34000.
   */
  const energyFactorMax = 4.4;

  test("cover the executed calls, multiplied by the network's maximum energy factor", async () => {
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
