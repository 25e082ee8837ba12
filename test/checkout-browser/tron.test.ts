import { beforeEach, expect } from "@jest/globals";
import { gzipSync } from "node:zlib";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { clickPay, mayPay } from "../rig/open-checkout.ts";
import { openTronCheckout } from "../rig/open-tron-checkout.ts";
import type { TronWallet } from "../rig/tron-wallet.ts";
import { usePayers } from "../rig/use-checkout.ts";
import { walkByKeyboard } from "../rig/walk-by-keyboard.ts";
import { WalletError, never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

/** Known to the node; before each test it has 25 of the token, and allows nothing. */
const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
/** One of the chain's payers, who holds plenty and allows everything. */
const rich = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const units = 1_000_000n;
const firstLoadBytesMax = 40 * 1024;
/** Of three seconds each, for a transaction that lasts a minute; two blocks behind the head one is solid. */
const blocksUntilHeadIsLate = 21;
/** More than the time in which a transaction of the wallet's expires. */
const blocksUntilExpired = 30;

const rig = usePayers(() => openTronCheckout());
beforeEach(async () => {
  const to = rig.chain.addressOf("usdc");
  const balance = BigInt(
    String(
      await rig.chain.ask("eth_call", [
        { to, data: `0x70a08231${account.slice(2).padStart(64, "0")}` },
        "latest",
      ]),
    ),
  );
  if (balance < 25n * units) await rig.mint(account, 25n * units);
  const spender = devnet.erc20FeeProxy.slice(2).padStart(64, "0");
  const data = `0x095ea7b3${spender}${"0".repeat(64)}`;
  await rig.chain.ask("eth_sendTransaction", [{ from: account, to, data }]);
});

type Payer = Awaited<ReturnType<typeof rig.openPayer>>;
type Order = Partial<Parameters<typeof rig.openPayer>[0]>;

const openPayer = (order: Order = {}): Promise<Payer> =>
  rig.openPayer({ toAmount: "25", account, ...order });

const goToPay = async (payer: Payer): Promise<void> => {
  await payer.goTo(payer.link.pageUrl);
  await clickPay(payer);
};

/** Somebody whose payment needs one signature. */
const openRichPayer = (order: Order = {}): Promise<Payer> => openPayer({ account: rich, ...order });

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

const seen = "A payment of 25 USDC was seen and is being confirmed. Do not pay again.";

const fail =
  (code: number, message = "no") =>
  () => {
    throw new WalletError(code, message);
  };

const idsOf = (wallet: TronWallet): string[] => wallet.toSign().map(({ txID }) => txID);

const expectNothingPaid = async (payer: Payer, words: string): Promise<void> => {
  await payer.see(words);
  expect(await mayPay(payer)).toBe(true);
  expect(await findAxeFaults(payer.page)).toEqual([]);
  const { payments } = await rig.system.show(payer.link.id);
  expect(payments).toEqual([]);
};

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

  test("of before TIP-6963 pays as well", async () => {
    const payer = await openRichPayer({ isOld: true });
    await goToPay(payer);
    await payer.see(seen);
    const asked = payer.wallet.asked.map(({ method }) => method);
    expect(asked).toContain("tron_requestAccounts");
    expect(asked).not.toContain("eth_requestAccounts");
  });

  test("that makes itself known late is found; until then TronLink's own browser is offered to a phone", async () => {
    const payer = await openRichPayer({ announceAfterMs: 3_000 });
    await payer.goTo(payer.link.pageUrl);
    await payer.see("There is no Tron wallet in this browser.");
    await clickPay(payer);
    await payer.see(seen);
    expect(await payer.text()).not.toContain("There is no Tron wallet");
  });

  test("pays by Tab and Enter alone, and reads German", async () => {
    const payer = await rig.openPayer({ toAmount: "25", account: rich }, { locale: "de-DE" });
    const { page } = payer;
    await payer.goTo(payer.link.pageUrl);
    await payer.see("25 USDC zahlen");
    expect(await walkByKeyboard(page)).toEqual([]);
    await page.getByRole("button", { name: "25 USDC zahlen" }).focus();
    payer.wallet.decide("trx.sign", async (params) => {
      await payer.see("nie mehr als 168");
      return payer.wallet.answer("trx.sign", params);
    });
    await page.keyboard.press("Enter");
    await payer.see("Zahlen Sie nicht noch einmal.");
    expect(payer.wallet.countSent()).toBe(1);
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

/** The chain has been asked what became of the payment, and it is still in the way of another. */
const expectHeld = async (payer: Payer): Promise<void> => {
  const countLooks = () =>
    payer.wallet.asked.filter(({ method }) => method === "trx.getUnconfirmedTransactionInfo")
      .length;
  const before = countLooks();
  // What the first look found is shown by the second.
  await waitUntil("two more looks", () => countLooks() >= before + 2);
  await payer.see("Sent. Waiting for the network. Do not pay again.");
  expect(await mayPay(payer)).toBe(false);
};

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

  test("after a reload once it was sent", async () => {
    const payer = await openRichPayer();
    await rig.system.stopWatchers();
    await goToPay(payer);
    await payer.see("Do not pay again. Transaction");
    await payer.page.reload();
    await payer.see(`In a block. Waiting until it is seen here.`);
    expect(await mayPay(payer)).toBe(false);
    await rig.system.startWatcher();
    await payer.see(seen);
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("nor a second allowance after a reload, while the first waits for its block", async () => {
    const payer = await openPayer();
    await payer.goTo(payer.link.pageUrl);
    await rig.chain.ask("evm_setAutomine", [false]);
    await clickPay(payer);
    await payer.see("The allowance was sent; no payment yet.");
    await payer.page.reload();
    await clickPay(payer);
    await payer.see("The allowance was sent; no payment yet.");
    await rig.chain.ask("evm_setAutomine", [true]);
    await rig.chain.mine();
    await payer.see(seen);
    expect(payer.wallet.toSign()).toHaveLength(2);
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

  test("where the wallet never answers: nothing is sent once the time is over, and it may be paid again", async () => {
    const payer = await openRichPayer();
    let confirm: (signed: unknown) => void = () => undefined;
    payer.wallet.decide("trx.sign", () => new Promise((resolve) => (confirm = resolve)));
    await goToPay(payer);
    await waitUntil("the wallet is asked", () => payer.wallet.toSign().length === 1);
    await rig.chain.mine(blocksUntilExpired);
    await waitUntil("it is forgotten", async () =>
      payer.page.evaluate(
        `Object.values(localStorage).every((kept) => JSON.parse(kept).payment === undefined)`,
      ),
    );
    // What somebody confirms only now is not sent.
    confirm(payer.wallet.answer("trx.sign", [payer.wallet.toSign()[0]]));
    await waitUntil("it may be paid", () => mayPay(payer));
    await expectNothingPaid(payer, "No block took your payment in its time");
    expect(payer.wallet.countSent()).toBe(0);
  });
});

const refusals: [string, (wallet: TronWallet) => void, string][] = [
  [
    "who declines to connect",
    (wallet) => wallet.decide("eth_requestAccounts", fail(4001)),
    "You declined in your wallet. Nothing was paid; you can try again.",
  ],
  [
    "who declines to sign, which TronLink says in words alone",
    (wallet) => wallet.decide("trx.sign", fail(-32603, "Confirmation declined by user")),
    "You declined in your wallet. Nothing was paid; you can try again.",
  ],
  [
    "whose wallet is locked",
    (wallet) => wallet.decide("eth_requestAccounts", fail(-32000)),
    "Your wallet is locked, or has no account. Unlock it, then try again.",
  ],
  [
    "whose wallet has no account",
    (wallet) => wallet.decide("eth_requestAccounts", () => []),
    "Your wallet is locked, or has no account. Unlock it, then try again.",
  ],
  [
    "whose wallet has an open question",
    (wallet) => wallet.decide("eth_requestAccounts", fail(-32002)),
    "Your wallet has an open question. Answer it there, then try again.",
  ],
  [
    "whose wallet stays on another network",
    (wallet) => {
      wallet.decide("trx.getBlockByNumber", () => ({ blockID: "2b6653dc".padStart(64, "0") }));
      wallet.decide("wallet_switchEthereumChain", fail(4200));
    },
    "Your wallet is on another network. Choose Local Tron in its list of networks, then try again.",
  ],
  [
    "who has no TRX for the energy",
    (wallet) => wallet.decide("trx.getUnconfirmedBalance", () => 1_000),
    "has 0.001 TRX, and this step would burn about",
  ],
  [
    "for whom the network asks more energy than the fee's limit",
    (wallet) =>
      wallet.decide("trx.getChainParameters", () => [{ key: "getEnergyFee", value: 1_000_000 }]),
    "so it would fail. Nothing was paid; ask the owner how to pay.",
  ],
  [
    "whose node does not take what they signed",
    (wallet) => wallet.decide("trx.sendRawTransaction", () => ({ code: "TAPOS_ERROR" })),
    "Your wallet's node did not take what you signed. Nothing was paid; try again",
  ],
  [
    "who has too little TRX for the size of the transaction",
    (wallet) => wallet.decide("trx.sendRawTransaction", () => ({ code: "BANDWITH_ERROR" })),
    "Your account has too little TRX for the size of the transaction.",
  ],
  [
    "who confirms too late",
    (wallet) =>
      wallet.decide("trx.sendRawTransaction", () => ({ code: "TRANSACTION_EXPIRATION_ERROR" })),
    "What you signed came too late for the network. Nothing was paid; try again",
  ],
  [
    "whose wallet cannot reach the chain",
    (wallet) => wallet.decide("trx.getAccountResources", fail(-32603, "Network Error")),
    "Your wallet cannot reach Local Tron right now. Nothing was paid; try again in a moment.",
  ],
];

describe("a payer", () => {
  test.each(refusals)("%s is told so, and may try again", async (_who, refuse, words) => {
    const payer = await openRichPayer();
    refuse(payer.wallet);
    await goToPay(payer);
    await expectNothingPaid(payer, words);
    await payer.page.reload();
    await payer.see("Pay 25 USDC");
    expect(await mayPay(payer)).toBe(true);
    expect(await payer.text()).not.toMatch(/do not pay again|was asked/i);
  });

  test.each<[number | undefined, string]>([
    [4001, "You declined in your wallet."],
    [4000, "Your wallet has an open question."],
    [undefined, "Your wallet is locked, or has no account."],
  ])("of an older wallet that answers %s is told what that means", async (code, words) => {
    const payer = await openRichPayer({ isOld: true });
    payer.wallet.decide("tron_requestAccounts", () => (code === undefined ? "" : { code }));
    await goToPay(payer);
    await expectNothingPaid(payer, words);
  });

  test("whose wallet changes to the network when it is asked pays there", async () => {
    const payer = await openRichPayer();
    payer.wallet.answer("wallet_switchEthereumChain", [{ chainId: "0x2b6653dc" }]);
    await goToPay(payer);
    await payer.see(seen);
    expect(payer.wallet.asked).toContainEqual({
      method: "wallet_switchEthereumChain",
      params: [{ chainId: "0x53a" }],
    });
  });

  test("with too little of the token is told before anything is signed", async () => {
    const payer = await openPayer({ toAmount: "26000000000" });
    await goToPay(payer);
    const { base58 } = payer.wallet;
    await expectNothingPaid(
      payer,
      `${base58.slice(0, 6)}…${base58.slice(-4)} has ` +
        "25 USDC, which is less than 26,000,000,000. Nothing was sent",
    );
    expect(payer.wallet.toSign()).toEqual([]);
  });

  test("whom the token's contract blocks is told before the payment is signed", async () => {
    await rig.chain.blockAccount(rich);
    const payer = await openRichPayer({ tokenId: "blocking-local-tron" });
    await goToPay(payer);
    await expectNothingPaid(
      payer,
      "Nothing was paid; take another account, or ask the owner how to pay.",
    );
    expect(payer.wallet.toSign()).toEqual([]);
  });

  test("who never answers to the allowance is told so once its time is over", async () => {
    const payer = await openPayer({ lastsMs: 3_000 });
    payer.wallet.decide("trx.sign", never);
    await goToPay(payer);
    await payer.see("Step 1 of 2");
    await expectNothingPaid(payer, "Nobody confirmed it in your wallet in its time.");
    expect(payer.wallet.countSent()).toBe(0);
  });

  test("whose allowance the network refuses is told that nothing was paid", async () => {
    const payer = await openPayer();
    payer.wallet.decide("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "REVERT" },
    }));
    await goToPay(payer);
    await expectNothingPaid(payer, "The network refused the allowance. Nothing was paid");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("whose transaction fails in its block is told so, and may pay again", async () => {
    const payer = await openRichPayer();
    payer.wallet.decide("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "OUT_OF_ENERGY" },
    }));
    payer.wallet.decide("trx.sendRawTransaction", () => ({ result: true }));
    await goToPay(payer);
    await expectNothingPaid(payer, "Your transaction ran out of energy: its fee is gone");
  });
});

type Made = { raw_data_hex: string };

/** The wallet's own transaction, changed by hand before the page has it. */
const changeMade = (wallet: TronWallet, change: (made: Made) => Made): void => {
  const method = "transactionBuilder.triggerSmartContract";
  wallet.decide(method, async (params) => {
    const made = (await wallet.answer(method, params)) as { transaction: Made };
    return { ...made, transaction: change(made.transaction) };
  });
};

describe("what a wallet is asked to sign is what the service asks for:", () => {
  const different =
    "Your wallet made another transaction than this page asked for. Nothing was paid";
  const thief = "7".repeat(40);

  test.each<[string, RegExp, string]>([
    ["another receiver", /(c219a14d\w{64}\w{24})\w{40}/, `$1${thief}`],
    ["another contract", /1215\w{42}/, `121541${thief}`],
    ["a higher limit of the fee", /9001\w+$/, "9001ffffff7f"],
    ["a memo", /$/, "520131"],
  ])("not %s", async (_what, part, instead) => {
    const payer = await openRichPayer();
    changeMade(payer.wallet, (made) => {
      const raw_data_hex = made.raw_data_hex.replace(part, instead);
      expect(raw_data_hex).not.toBe(made.raw_data_hex);
      return { ...made, raw_data_hex };
    });
    await goToPay(payer);
    await expectNothingPaid(payer, different);
    expect(payer.wallet.toSign()).toEqual([]);
  });

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

  test("is stopped where it asks another, and its payer is told what to do", async () => {
    const payer = await openRichPayer();
    await payer.page.addInitScript(`addEventListener("TIP6963:announceProvider", ({ detail }) => {
      const { request } = detail.provider;
      detail.provider.request = async (asked) => {
        const answer = await request(asked);
        detail.provider.tronWeb.trx.getBlockByNumber = () => fetch("https://node.test/wallet/getblockbynum");
        return answer;
      };
    })`);
    await goToPay(payer);
    await expectNothingPaid(payer, "Your wallet asks another node than the network's usual one");
    expect(payer.person.faults.splice(0)).toEqual([
      "connect-src https://node.test/wallet/getblockbynum",
    ]);
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
