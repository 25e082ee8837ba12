import { afterEach, beforeEach, expect } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { devnet } from "@payment-links/contracts";
import { type Checkout, type Payer, clickPay, mayPay } from "./open-checkout.ts";
import { useOwnCheckout } from "./use-checkout.ts";
import { failWith } from "./wallet.ts";

/** Known to the node; before each test it has tokens, allows nothing and has no code. */
export const account = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const units = 1_000_000n;

type Order = Partial<Parameters<Checkout["openPayer"]>[0]>;

/** What a wallet answers that refuses, and what its payer is told. */
export const refusals: [number, string][] = [
  [4001, "You declined in your wallet. Nothing was paid; you can try again."],
  [
    4100,
    "Your wallet does not let this page use your account. Unlock it and allow that, then try again.",
  ],
];

/** A checkout whose watcher reads transfers, and what tests do with payers who pay by one. */
export const useTransfers = () => {
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

  /** Somebody in front of a link whose owner's address the watcher knows. */
  const openPayer = async (order: Order = {}): Promise<Payer> => {
    const payer = await rig.openPayer({ toAmount: "25", account, ...order });
    await rig.system.hearsOf(payer.link.to);
    return payer;
  };

  const kindsOf = (payer: Payer) =>
    payer.wallet
      .sent()
      .map(({ data }) => (data.startsWith("0xa9059cbb") ? "direct" : "by contract"));

  const expectToldWhy = async (code: number, words: string): Promise<void> => {
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
  };

  const expectKinds = async (
    payer: Payer,
    kinds: readonly string[],
    batches = 0,
  ): Promise<void> => {
    await payer.goTo(payer.link.pageUrl);
    await clickPay(payer);
    await payer.see("Do not pay again");
    expect([kindsOf(payer), payer.wallet.batches().length]).toEqual([kinds, batches]);
  };

  /** An account with tokens and coins that has never sent a transaction. */
  const openFreshAccount = async (): Promise<string> => {
    const fresh = `0x${randomBytes(20).toString("hex")}`;
    await rig.chain.ask("anvil_impersonateAccount", [fresh]);
    await rig.chain.ask("anvil_setBalance", [fresh, "0xde0b6b3a7640000"]);
    const words = [fresh.slice(2), (25n * units).toString(16)];
    const data = `0x40c10f19${words.map((word) => word.padStart(64, "0")).join("")}`;
    const to = rig.chain.addressOf("usdc");
    await rig.chain.ask("eth_sendTransaction", [{ from: account, to, data }]);
    return fresh;
  };

  return { rig, openPayer, openFreshAccount, expectKinds, expectToldWhy };
};
