import { beforeEach, expect } from "@jest/globals";
import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findAxeFaults } from "./find-axe-faults.ts";
import { clickPay, mayPay } from "./open-checkout.ts";
import { openTronCheckout } from "./open-tron-checkout.ts";
import type { TronWallet } from "./tron-wallet.ts";
import { usePayers } from "./use-checkout.ts";
import { failWith } from "./wallet.ts";

/** Known to the node; before each test it has 25 of the token, and allows nothing. */
const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
/** One of the chain's payers, who holds plenty and allows everything. */
export const rich = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const units = 1_000_000n;

/** What the page shows once the service has seen the payment. */
export const seen = "A payment of 25 USDC was seen and is being confirmed. Do not pay again.";

type Rig = Awaited<ReturnType<typeof openTronCheckout>>;
type Payer = Awaited<ReturnType<Rig["openPayer"]>>;
type Order = Partial<Parameters<Rig["openPayer"]>[0]>;

export const refusals: [string, (wallet: TronWallet) => void, string][] = [
  [
    "who declines to connect",
    (wallet) => wallet.decide("eth_requestAccounts", failWith(4001)),
    "You declined in your wallet. Nothing was paid; you can try again.",
  ],
  [
    "who declines to sign, which TronLink says in words alone",
    (wallet) => wallet.decide("trx.sign", failWith(-32603, "Confirmation declined by user")),
    "You declined in your wallet. Nothing was paid; you can try again.",
  ],
  [
    "whose wallet is locked",
    (wallet) => wallet.decide("eth_requestAccounts", failWith(-32000)),
    "Your wallet is locked, or has no account. Unlock it, then try again.",
  ],
  [
    "whose wallet has no account",
    (wallet) => wallet.decide("eth_requestAccounts", () => []),
    "Your wallet is locked, or has no account. Unlock it, then try again.",
  ],
  [
    "whose wallet has an open question",
    (wallet) => wallet.decide("eth_requestAccounts", failWith(-32002)),
    "Your wallet has an open question. Answer it there, then try again.",
  ],
  [
    "whose wallet stays on another network",
    (wallet) => {
      wallet.decide("trx.getBlockByNumber", () => ({ blockID: "2b6653dc".padStart(64, "0") }));
      wallet.decide("wallet_switchEthereumChain", failWith(4200));
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
    (wallet) => wallet.decide("trx.getAccountResources", failWith(-32603, "Network Error")),
    "Your wallet cannot reach Local Tron right now. Nothing was paid; try again in a moment.",
  ],
];

export type Made = { raw_data_hex: string };

/** The wallet's own transaction, changed by hand before the page has it. */
const changeMade = (wallet: TronWallet, change: (made: Made) => Made): void => {
  const method = "transactionBuilder.triggerSmartContract";
  wallet.decide(method, async (params) => {
    const made = (await wallet.answer(method, params)) as { transaction: Made };
    return { ...made, transaction: change(made.transaction) };
  });
};

export const different =
  "Your wallet made another transaction than this page asked for. Nothing was paid";
const thief = "7".repeat(40);

/** What a wallet may change in what it was asked to sign. */
export const changes: [string, RegExp, string][] = [
  ["another receiver", /(c219a14d\w{64}\w{24})\w{40}/, `$1${thief}`],
  ["another contract", /1215\w{42}/, `121541${thief}`],
  ["a higher limit of the fee", /9001\w+$/, "9001ffffff7f"],
  ["a memo", /$/, "520131"],
];

/** The local Tron, a browser, and what its tests do with payers. */
export const useTronPayers = () => {
  const rig = usePayers(() => openTronCheckout());
  beforeEach(async () => {
    const to = rig.chain.addressOf("usdc");
    if ((await rig.balanceOf(account)) < 25n * units) await rig.mint(account, 25n * units);
    const spender = devnet.erc20FeeProxy.slice(2).padStart(64, "0");
    const data = `0x095ea7b3${spender}${"0".repeat(64)}`;
    await rig.chain.ask("eth_sendTransaction", [{ from: account, to, data }]);
  });

  const openPayer = (order: Order = {}): Promise<Payer> =>
    rig.openPayer({ toAmount: "25", account, ...order });

  const goToPay = async (payer: Payer): Promise<void> => {
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
  };

  /** Somebody whose payment needs one signature. */
  const openRichPayer = (order: Order = {}): Promise<Payer> =>
    openPayer({ account: rich, ...order });

  const expectNothingPaid = async (payer: Payer, words: string): Promise<void> => {
    await payer.see(words);
    expect(await mayPay(payer)).toBe(true);
    expect(await findAxeFaults(payer.page)).toEqual([]);
    const { payments } = await rig.system.show(payer.link.id);
    expect(payments).toEqual([]);
  };

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

  const expectToldWhy = async (
    refuse: (wallet: TronWallet) => void,
    words: string,
  ): Promise<void> => {
    const payer = await openRichPayer();
    refuse(payer.wallet);
    await goToPay(payer);
    await expectNothingPaid(payer, words);
    await payer.page.reload();
    await payer.see("Pay 25 USDC");
    expect(await mayPay(payer)).toBe(true);
    expect(await payer.text()).not.toMatch(/do not pay again|was asked/i);
  };

  const expectNotSigned = async (part: RegExp, instead: string): Promise<void> => {
    const payer = await openRichPayer();
    changeMade(payer.wallet, (made) => {
      const raw_data_hex = made.raw_data_hex.replace(part, instead);
      expect(raw_data_hex).not.toBe(made.raw_data_hex);
      return { ...made, raw_data_hex };
    });
    await goToPay(payer);
    await expectNothingPaid(payer, different);
    expect(payer.wallet.toSign()).toEqual([]);
  };

  return {
    rig,
    openPayer,
    openRichPayer,
    goToPay,
    expectNothingPaid,
    expectHeld,
    expectToldWhy,
    expectNotSigned,
  };
};
