import { afterAll, afterEach, beforeAll, beforeEach, expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingChromium } from "../rig/find-chromium.ts";
import {
  type Payer,
  clickPay,
  countAsked,
  holdLooks,
  mayPay,
  paymentsOf,
} from "../rig/open-checkout.ts";
import { useCheckout } from "../rig/use-checkout.ts";
import { WalletError, never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

/** Known to the node; before each test it has tokens, and allows nothing. */
const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const units = 1_000_000n;

const allow = (words: string) =>
  rig.chain.ask("eth_sendTransaction", [
    {
      from: account,
      to: rig.chain.addressOf("usdc"),
      data: `0x095ea7b3${devnet.erc20FeeProxy.slice(2).padStart(64, "0")}${words.padStart(64, "0")}`,
    },
  ]);

const rig = useCheckout();
beforeEach(async () => {
  await rig.mint(account, 25n * units);
  await allow("0");
});
afterEach(async () => {
  await rig.chain.ask("evm_setAutomine", [true]);
  await rig.chain.mine();
});

const openPayer = (batching: "supported" | "ready" = "supported") =>
  rig.openPayer({ toAmount: "25", account, batching });

/** No button pays, nor after a reload, and the wallet was asked once. */
const expectNoSecondPayment = async (tab: Payer): Promise<void> => {
  expect(await mayPay(tab)).toBe(false);
  expect(await tab.text()).not.toMatch(/nothing was paid/i);
  await tab.page.reload();
  await tab.see("o not pay again");
  expect(await mayPay(tab)).toBe(false);
  expect(countAsked(tab)).toBe(1);
};

/** Has a batch sent that waits for a block; answers its id and its transaction. */
const payUnmined = async (tab: Payer): Promise<[string, `0x${string}`]> => {
  tab.wallet.decide("wallet_sendCalls", async (params) => {
    await rig.chain.ask("evm_setAutomine", [false]);
    return tab.wallet.answer("wallet_sendCalls", params);
  });
  await tab.goTo(tab.link.pageUrl);
  await clickPay(tab);
  await tab.see("Your wallet has taken the payment.");
  const [[id, hash] = ["", ""]] = tab.wallet.batchHashes;
  return [id, `0x${hash.slice(2)}`];
};

const fail =
  (code: number, message = "no") =>
  () => {
    throw new WalletError(code, message);
  };

describe("a payer whose wallet carries out several calls as one", () => {
  test.each(["supported", "ready"] as const)(
    "(%s) allows and pays in one transaction, which settles",
    async (batching) => {
      const payer = await openPayer(batching);
      await payer.goTo(payer.link.pageUrl);
      const url = `${rig.system.publicUrl}/checkout/payment-links/${payer.link.id}`;
      const { instructions } = (await (await fetch(url)).json()) as {
        instructions: { steps: { to: string; data: string }[] };
      };
      await clickPay(payer);
      await payer.see("A payment of 25 USDC was seen and is being confirmed.");
      expect(payer.wallet.sent()).toEqual([]);
      expect(payer.wallet.batches()).toEqual([
        {
          version: "2.0.0",
          id: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          from: account,
          chainId: "0x539",
          atomicRequired: true,
          calls: instructions.steps.map(({ to, data }) => ({ to, data, value: "0x0" })),
        },
      ]);
      await rig.chain.mine(3);
      await payer.see("This payment link has been paid.");
    },
  );

  test("pays alone where the allowance stands already", async () => {
    await allow((25n * units).toString(16));
    const payer = await openPayer();
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect([paymentsOf(payer.wallet).length, payer.wallet.batches()]).toEqual([1, []]);
  });

  test.each<[string, string, () => unknown, string]>([
    [
      "who declines",
      "wallet_sendCalls",
      fail(4001),
      "You declined in your wallet. Nothing was paid; you can try again.",
    ],
    [
      "whose wallet does not let the page ask for it",
      "wallet_sendCalls",
      fail(4100),
      "Your wallet does not let this page use your account. Unlock it and allow that, then try again.",
    ],
    [
      "whose wallet cannot reach the chain",
      "eth_estimateGas",
      fail(-32603),
      "Your wallet cannot reach Local devnet right now. Nothing was paid; try again in a moment.",
    ],
    [
      "whom the token's contract refuses",
      "eth_estimateGas",
      fail(3, "execution reverted"),
      "Nothing was paid; take another account, or ask the owner how to pay.",
    ],
  ])("%s is told so, and may try again", async (_who, method, answer, words) => {
    const payer = await openPayer();
    payer.wallet.decide(method, answer);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see(words);
    expect(await mayPay(payer)).toBe(true);
    expect(payer.wallet.sent()).toEqual([]);
  });

  test.each([-32601, 4200, 5700, 5710, 5740, 5750, 5760])(
    "that then cannot (%i) allows and pays one after the other",
    async (code) => {
      const payer = await openPayer();
      payer.wallet.decide("wallet_sendCalls", fail(code));
      await payer.goTo(payer.link.pageUrl);
      await clickPay(payer);
      await payer.see("Do not pay again. Transaction 0x");
      expect(payer.wallet.sent()).toHaveLength(2);
      expect(paymentsOf(payer.wallet)).toHaveLength(1);
    },
  );

  test.each<[string, (payer: Payer) => void]>([
    [
      "says that it does not",
      ({ wallet }) =>
        wallet.decide("wallet_getCapabilities", () => ({
          "0x539": { atomic: { status: "unsupported" } },
        })),
    ],
    [
      "does so on another network only",
      ({ wallet }) =>
        wallet.decide("wallet_getCapabilities", () => ({
          "0x1": { atomic: { status: "supported" } },
        })),
    ],
    ["answers nonsense", ({ wallet }) => wallet.decide("wallet_getCapabilities", () => 7)],
  ])("but %s allows and pays one after the other", async (_what, decide) => {
    const payer = await openPayer();
    decide(payer);
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again. Transaction 0x");
    expect([payer.wallet.sent().length, payer.wallet.batches()]).toEqual([2, []]);
  });
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

  test.each<[string, (params: readonly unknown[]) => unknown]>([
    ["of which it knows nothing", fail(5730)],
    ["of which its node says nothing", fail(-32603)],
    ["of which it never answers", never],
    ["of which it says what nobody understands", () => ({ status: "PENDING" })],
  ])("and %s is not offered again", async (_what, answer) => {
    const tab = await openPayer();
    let asked = 0;
    tab.wallet.decide("wallet_getCallsStatus", (params) => {
      asked += 1;
      return answer(params);
    });
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await waitUntil("the question how it stands", () => asked > 0);
    await expectNoSecondPayment(tab);
  });

  test("and that it has under the same name already is not offered again", async () => {
    const tab = await openPayer();
    tab.wallet.decide("wallet_sendCalls", fail(5720));
    await tab.goTo(tab.link.pageUrl);
    await clickPay(tab);
    await tab.see("Your wallet was asked for this payment");
    await expectNoSecondPayment(tab);
  });

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

  test("and whose place another transaction took can be paid again once the wallet says so", async () => {
    const tab = await openPayer();
    const [, hash] = await payUnmined(tab);
    await rig.chain.replace(hash);
    await rig.chain.mine(2);
    await expectNoSecondPayment(tab);
    tab.wallet.decide("wallet_getCallsStatus", ([id]) => ({ id, status: 400 }));
    await tab.see("Your payment failed: it is not on the chain. You can pay again.");
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
