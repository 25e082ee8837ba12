import { beforeEach, expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { clickPay, canPay, showsPendingPayment } from "../rig/create-checkout.ts";
import { createTronCheckout } from "../rig/create-tron-checkout.ts";
import type { TronWallet } from "../rig/tron-wallet.ts";
import { usePayersRig } from "../rig/use-checkout.ts";
import { WalletError, announceLateWallets, failWith, neverRespond } from "../rig/wallet.ts";
import { gzipSync } from "node:zlib";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";
import { walkByKeyboard } from "../rig/walk-by-keyboard.ts";

const { describe, describeSoak, test } = requireChromium();

const firstLoadBytesMax = 40 * 1024;
/**
 * A number of blocks of three seconds each. Together they last longer than a transaction, which
 * expires after one minute. The last solid block is two blocks behind the head.
 */
const blocksUntilHeadIsLate = 21;
/** Enough blocks for the wallet's transactions to expire. */
const blocksUntilExpired = 30;

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

/** An account of the node. Before each test, it has 25 tokens and a zero allowance. */
const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
/** One of the chain's prefunded payers, with a large balance and an unlimited allowance. */
const fundedAccount = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const baseUnitsPerToken = 1_000_000n;

/** The text that the page shows when the service has detected the payment. */
const paymentSeenText = "Payment of 25 USDC detected. Do not pay again.";

type Rig = Awaited<ReturnType<typeof createTronCheckout>>;
type Payer = Awaited<ReturnType<Rig["createPayer"]>>;
type TronPayerOptions = Partial<Parameters<Rig["createPayer"]>[0]>;

const walletRejections: [string, (wallet: TronWallet) => void, string][] = [
  [
    "who declines to connect",
    (wallet) => wallet.setHandler("eth_requestAccounts", failWith(4001)),
    "You rejected the request. Nothing was paid. You can try again.",
  ],
  [
    "who declines to sign, which TronLink reports only as text",
    (wallet) => wallet.setHandler("trx.sign", failWith(-32603, "Confirmation declined by user")),
    "You rejected the request. Nothing was paid. You can try again.",
  ],
  [
    "whose wallet is locked",
    (wallet) => wallet.setHandler("eth_requestAccounts", failWith(-32000)),
    "Your wallet is locked or has no account. Unlock it and try again.",
  ],
  [
    "whose wallet has no account",
    (wallet) => wallet.setHandler("eth_requestAccounts", () => []),
    "Your wallet is locked or has no account. Unlock it and try again.",
  ],
  [
    "whose wallet has a pending request",
    (wallet) => wallet.setHandler("eth_requestAccounts", failWith(-32002)),
    "Your wallet has a pending request. Finish it there and try again.",
  ],
  [
    "whose wallet stays on another network",
    (wallet) => {
      wallet.setHandler("trx.getBlockByNumber", () => ({ blockID: "2b6653dc".padStart(64, "0") }));
      wallet.setHandler("wallet_switchEthereumChain", failWith(4200));
    },
    "Your wallet is on another network. Select Local Tron there and try again.",
  ],
  [
    "who has no TRX for the energy",
    (wallet) => wallet.setHandler("trx.getUnconfirmedBalance", () => 1_000),
    "has 0.001 TRX, but this step costs about",
  ],
  [
    "whose payment needs more energy than the fee limit",
    (wallet) =>
      wallet.setHandler("trx.getChainParameters", () => [
        { key: "getEnergyFee", value: 1_000_000 },
      ]),
    "covers. Nothing was paid. Ask the seller how to pay.",
  ],
  [
    "whose node rejects the signed transaction",
    (wallet) => wallet.setHandler("trx.sendRawTransaction", () => ({ code: "TAPOS_ERROR" })),
    "Your wallet's node rejected the transaction. Nothing was paid. Try again",
  ],
  [
    "who has too little TRX for the size of the transaction",
    (wallet) => wallet.setHandler("trx.sendRawTransaction", () => ({ code: "BANDWITH_ERROR" })),
    "Your account needs more TRX for the bandwidth fee.",
  ],
  [
    "who confirms too late",
    (wallet) =>
      wallet.setHandler("trx.sendRawTransaction", () => ({ code: "TRANSACTION_EXPIRATION_ERROR" })),
    "Your confirmation came too late. Nothing was paid. Try again",
  ],
  [
    "whose wallet cannot reach the chain",
    (wallet) => wallet.setHandler("trx.getAccountResources", failWith(-32603, "Network Error")),
    "Your wallet can't reach Local Tron. Nothing was paid. Try again in a moment.",
  ],
];

type TronTransaction = { raw_data_hex: string };

/** Modifies the wallet's transaction before the page receives it. */
const alterTransaction = (
  wallet: TronWallet,
  alter: (transaction: TronTransaction) => TronTransaction,
): void => {
  const method = "transactionBuilder.triggerSmartContract";
  wallet.setHandler(method, async (params) => {
    const result = (await wallet.callMethod(method, params)) as { transaction: TronTransaction };
    return { ...result, transaction: alter(result.transaction) };
  });
};

const differentTransactionText =
  "Your wallet created a different transaction than requested. Nothing was paid";
const attackerAddress = "7".repeat(40);

/** Changes that a wallet could make to the transaction that it was asked to sign. */
const transactionChanges: [string, RegExp, string][] = [
  ["another recipient", /(c219a14d\w{64}\w{24})\w{40}/, `$1${attackerAddress}`],
  ["another contract", /1215\w{42}/, `121541${attackerAddress}`],
  ["a higher fee limit", /9001\w+$/, "9001ffffff7f"],
  ["a memo", /$/, "520131"],
];

const rig = usePayersRig(() => createTronCheckout());
beforeEach(async () => {
  if ((await rig.balanceOf(account)) < 25n * baseUnitsPerToken)
    await rig.mint(account, 25n * baseUnitsPerToken);
  await rig.approve(account, 0n);
});

const createPayer = (options: TronPayerOptions = {}): Promise<Payer> =>
  rig.createPayer({ toAmount: "25", account, ...options });

/** Creates a payer whose payment needs one signature. */
const createFundedPayer = (options: TronPayerOptions = {}): Promise<Payer> =>
  createPayer({ account: fundedAccount, ...options });

const expectNothingPaid = async (payer: Payer, expectedText: string): Promise<void> => {
  await payer.waitForText(expectedText);
  expect(await canPay(payer)).toBe(true);
  expect(await findAxeViolations(payer.page)).toEqual([]);
  const { payments } = await rig.system.readLink(payer.link.id);
  expect(payments).toEqual([]);
};

/** Expects that the page has queried the payment's status and still blocks a second payment. */
const expectStillPending = async (payer: Payer): Promise<void> => {
  const countPolls = () =>
    payer.wallet.requests.filter(({ method }) => method === "trx.getUnconfirmedTransactionInfo")
      .length;
  const pollsBefore = countPolls();
  // The page shows the first poll's result at the second poll.
  await waitUntil("two more status requests", () => countPolls() >= pollsBefore + 2);
  await payer.waitForText("Sent. Waiting for the network. Do not pay again.");
  expect(await canPay(payer)).toBe(false);
};

describe("a payer with a Tron wallet", () => {
  test("approves the exact amount, pays it, and sees it settle without reloading the page", async () => {
    const payer = await createPayer();
    await payer.open();
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
    await payer.startPayment();
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
    await payer.open("Pay 25 USDC");
    expect([...bodies.keys()]).toContain("/checkout/assets/tron.js");
    const sizes = (await Promise.all(bodies.values())).map((body) => gzipSync(body).length);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(firstLoadBytesMax);
  });
});

describeSoak("a payer with a Tron wallet", () => {
  test("can pay with a wallet from before TIP-6963", async () => {
    const payer = await createFundedPayer({ isLegacy: true });
    await payer.startPayment(paymentSeenText);
    const requestedMethods = payer.wallet.requests.map(({ method }) => method);
    expect(requestedMethods).toContain("tron_requestAccounts");
    expect(requestedMethods).not.toContain("eth_requestAccounts");
  });

  test("can pay even if the wallet announces itself late; until then a phone is offered TronLink's browser", async () => {
    const payer = await createFundedPayer({ announcesLate: true });
    await payer.open();
    await payer.page.getByRole("radio", { name: "Wallet" }).check();
    await payer.waitForText("No Tron wallet found in this browser.");
    await announceLateWallets(payer);
    await clickPay(payer);
    await payer.waitForText(paymentSeenText);
    expect(await payer.readText()).not.toContain("No Tron wallet found");
  });

  test("pays with Tab and Enter only, in German", async () => {
    const payer = await rig.createPayer(
      { toAmount: "25", account: fundedAccount },
      { locale: "de-DE" },
    );
    const { page } = payer;
    await payer.open("25 USDC zahlen");
    expect(await walkByKeyboard(page)).toEqual([]);
    await page.getByRole("button", { name: "25 USDC zahlen" }).focus();
    payer.wallet.setHandler("trx.sign", async (params) => {
      await payer.waitForText("höchstens 168");
      return payer.wallet.callMethod("trx.sign", params);
    });
    await page.keyboard.press("Enter");
    await payer.waitForText("Zahlen Sie nicht noch einmal.");
    expect(payer.wallet.countSent()).toBe(1);
  });
});

describe("a payment happens only once:", () => {
  test("after a reload in the middle, and in another tab", async () => {
    const payer = await createFundedPayer();
    const otherTab = await payer.user.openTab();
    await otherTab.goTo(payer.link.pageUrl);
    payer.wallet.setHandler("trx.sign", neverRespond);
    await payer.startPayment();
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
    await payer.open("Pay 25 USDC");
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
    await payer.startPayment("In a block. Waiting for confirmation. Do not pay again.");
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
    await payer.startPayment("Sent. Waiting for the network. Do not pay again.");
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

describeSoak("a payment happens only once:", () => {
  test("after a reload once it was sent", async () => {
    const payer = await createFundedPayer();
    await rig.system.stopWatchers();
    await payer.startPayment("Do not pay again. Transaction");
    await payer.page.reload();
    await payer.waitForText(`In a block. Waiting for confirmation.`);
    expect(await canPay(payer)).toBe(false);
    await rig.system.startWatcher();
    await payer.waitForText(paymentSeenText);
    await rig.chain.mine(3);
    await payer.waitForText("Payment complete");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("without a second allowance after a reload, while the first one waits for its block", async () => {
    const payer = await createPayer();
    await payer.open();
    await rig.chain.callRpc("evm_setAutomine", [false]);
    await clickPay(payer);
    await payer.waitForText("Approval sent. You have not paid yet.");
    await payer.page.reload();
    await clickPay(payer);
    await payer.waitForText("Approval sent. You have not paid yet.");
    await rig.chain.callRpc("evm_setAutomine", [true]);
    await rig.chain.mine();
    await payer.waitForText(paymentSeenText);
    expect(payer.wallet.listSigningRequests()).toHaveLength(2);
  });

  test("if the wallet never responds, nothing is sent after the transaction expires, and it can be paid again", async () => {
    const payer = await createFundedPayer();
    let confirmSigning: (signedTransaction: unknown) => void = () => undefined;
    payer.wallet.setHandler("trx.sign", () => new Promise((resolve) => (confirmSigning = resolve)));
    await payer.startPayment();
    await waitUntil(
      "the wallet receives the request",
      () => payer.wallet.listSigningRequests().length === 1,
    );
    await rig.chain.mine(blocksUntilExpired);
    await waitUntil("the page forgets the payment", async () =>
      payer.page.evaluate(
        `Object.values(localStorage).every((kept) => JSON.parse(kept).payment === undefined)`,
      ),
    );
    // A late confirmation is not sent.
    confirmSigning(payer.wallet.callMethod("trx.sign", [payer.wallet.listSigningRequests()[0]]));
    await waitUntil("the link can be paid again", () => canPay(payer));
    await expectNothingPaid(payer, "Your payment expired before a block included it");
    expect(payer.wallet.countSent()).toBe(0);
  });
});

describe("a payer", () => {
  test.each(sampleCases(walletRejections, ([name]) => /declines to sign/.test(name)))(
    "%s sees the reason and can try again",
    async (_case, rejectInWallet, expectedText) => {
      const payer = await createFundedPayer();
      rejectInWallet(payer.wallet);
      await payer.startPayment();
      await expectNothingPaid(payer, expectedText);
      await payer.page.reload();
      await payer.waitForText("Pay 25 USDC");
      expect(await canPay(payer)).toBe(true);
      expect(await showsPendingPayment(payer)).toBe(false);
    },
  );
});

describeSoak("a payer", () => {
  test.each<[number | undefined, string]>([
    [4001, "You rejected the request."],
    [4000, "Your wallet has a pending request."],
    [undefined, "Your wallet is locked or has no account."],
  ])("with an older wallet that returns %s sees what it means", async (code, expectedText) => {
    const payer = await createFundedPayer({ isLegacy: true });
    payer.wallet.setHandler("tron_requestAccounts", () => (code === undefined ? "" : { code }));
    await payer.startPayment();
    await expectNothingPaid(payer, expectedText);
  });

  test("whose wallet switches to the network on request pays there", async () => {
    const payer = await createFundedPayer();
    payer.wallet.callMethod("wallet_switchEthereumChain", [{ chainId: "0x2b6653dc" }]);
    await payer.startPayment(paymentSeenText);
    expect(payer.wallet.requests).toContainEqual({
      method: "wallet_switchEthereumChain",
      params: [{ chainId: "0x53a" }],
    });
  });

  test("with an insufficient token balance is informed before signing anything", async () => {
    const payer = await createPayer({ toAmount: "26000000000" });
    await payer.startPayment();
    const { base58 } = payer.wallet;
    await expectNothingPaid(
      payer,
      `${base58.slice(0, 6)}…${base58.slice(-4)} has ` +
        "25 USDC but needs 26,000,000,000. Nothing was sent",
    );
    expect(payer.wallet.listSigningRequests()).toEqual([]);
  });

  test("that the token's contract blocks is informed before signing the payment", async () => {
    await rig.chain.blockAccount(fundedAccount);
    const payer = await createFundedPayer({ tokenId: "blocking-local-tron" });
    await payer.startPayment();
    await expectNothingPaid(
      payer,
      "Nothing was paid. Switch accounts or ask the seller how to pay.",
    );
    expect(payer.wallet.listSigningRequests()).toEqual([]);
  });

  test("who never confirms the allowance is informed after it expires", async () => {
    const payer = await createPayer({ lifetimeMs: 3_000 });
    payer.wallet.setHandler("trx.sign", neverRespond);
    await payer.startPayment();
    await expectNothingPaid(payer, "The request in your wallet expired.");
    expect(payer.wallet.listSigningRequests()).toHaveLength(1);
    expect(payer.wallet.countSent()).toBe(0);
  });

  test("whose allowance reverts is informed that nothing was paid", async () => {
    const payer = await createPayer();
    payer.wallet.setHandler("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "REVERT" },
    }));
    await payer.startPayment();
    await expectNothingPaid(payer, "The network rejected the approval. Nothing was paid");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("whose transaction fails in its block is informed and can pay again", async () => {
    const payer = await createFundedPayer();
    payer.wallet.setHandler("trx.sendRawTransaction", () => ({ result: true }));
    await payer.startPayment("Sent. Waiting for the network. Do not pay again.");
    payer.wallet.setHandler("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "OUT_OF_ENERGY" },
    }));
    await expectNothingPaid(payer, "Your transaction ran out of energy. The fee was charged");
  });
});

describe("the wallet signs only the requested transaction:", () => {
  test.each(sampleCases(transactionChanges, (_change, index) => index === 0))(
    "not %s",
    async (_case, pattern, replacement) => {
      const payer = await createFundedPayer();
      alterTransaction(payer.wallet, (transaction) => {
        const raw_data_hex = transaction.raw_data_hex.replace(pattern, replacement);
        expect(raw_data_hex).not.toBe(transaction.raw_data_hex);
        return { ...transaction, raw_data_hex };
      });
      await payer.startPayment();
      await expectNothingPaid(payer, differentTransactionText);
      expect(payer.wallet.listSigningRequests()).toEqual([]);
    },
  );

  test("and a different transaction that it signed is not sent", async () => {
    const payer = await createFundedPayer();
    payer.wallet.setHandler("trx.sign", ([transaction]) => ({
      ...(transaction as TronTransaction),
      raw_data_hex: "00",
      signature: ["00"],
    }));
    await payer.startPayment();
    await expectNothingPaid(payer, differentTransactionText);
    expect(payer.wallet.countSent()).toBe(0);
  });
});

describe("a wallet that queries its node from within the page", () => {
  test("pays, because the page's policy allows requests to the chain's usual node and to no other", async () => {
    const payer = await createPayer({ queriesFromPage: true });
    await payer.startPayment(paymentSeenText);
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

describeSoak("a wallet that queries its node from within the page", () => {
  test("is blocked at any other node, and the payer sees what to do", async () => {
    const payer = await createFundedPayer();
    await payer.page.addInitScript(`addEventListener("TIP6963:announceProvider", ({ detail }) => {
      const { request } = detail.provider;
      detail.provider.request = async (asked) => {
        const answer = await request(asked);
        detail.provider.tronWeb.trx.getBlockByNumber = () => fetch("https://node.test/wallet/getblockbynum");
        return answer;
      };
    })`);
    await payer.startPayment();
    await expectNothingPaid(payer, "Your wallet uses a node that this page doesn't allow");
    expect(payer.user.violations.splice(0)).toEqual([
      "connect-src https://node.test/wallet/getblockbynum",
    ]);
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
    await payer.startPayment(paymentSeenText);
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
