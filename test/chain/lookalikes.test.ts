import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId, toEip55 } from "@payment-links/contracts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import { type LinkOrder, type PaymentSystem, openPaymentSystem } from "../rig/payment-system.ts";
import { counted, uncounted, untouched } from "../rig/shown-payments.ts";

const units = 1_000_000n;
const policyBlocks = 2;

/** An account that makes several links to one address. */
const openAccount = () =>
  sampleAccount({
    id: newId("user"),
    handle: `h${randomBytes(8).toString("hex")}`,
    wallets: [
      {
        id: newId("wallet"),
        walletAddress: toEip55(`0x${randomBytes(20).toString("hex")}`),
        tokenId: "usdc",
        chainType: "EVM",
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  });

describe("a payment in a token that is mistaken for the link's (rule CHAIN-27)", () => {
  let chain: Chain;
  let system: PaymentSystem;

  beforeAll(async () => {
    chain = await openChain({ slotsInEpoch: 4 });
    const settings = { finality: { blocks: policyBlocks } };
    system = await openPaymentSystem({ chain, settings, readsTransfers: true });
    await system.startWatcher();
  });
  afterAll(async () => {
    await system?.close();
    await chain?.close();
  });

  /** A link whose owner's address the watcher knows. */
  const createLink = async (order: Partial<LinkOrder> = {}) => {
    const link = await system.createLink({ toAmount: "25", ...order });
    await system.hearsOf(link.to);
    return link;
  };

  type Told = { instructions: unknown; wrongToken: Record<string, unknown> | null };
  const tell = async (id: string): Promise<Told> =>
    (await (await fetch(`${system.publicUrl}/checkout/payment-links/${id}`)).json()) as Told;
  const pageOf = async ({ pageUrl }: { pageUrl: string }, language: string): Promise<string> => {
    const answer = await fetch(pageUrl, { headers: { "accept-language": language } });
    return (await answer.text()).replaceAll(/<[^>]*>|\s+/g, " ").replaceAll(/ +/g, " ");
  };

  test("through the proxy is shown to owner and payer as a wrong token, and pays nothing", async () => {
    const link = await createLink();
    const hash = await chain.pay({ ...link, amount: 25n * units, token: "bridged" });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      ...untouched,
      payments: [uncounted("wrong_token", "25", hash)],
    });
    const { instructions, wrongToken } = await tell(link.id);
    expect(instructions).not.toBeNull();
    expect(wrongToken).toEqual({ amount: "25", symbol: "USDC.e", sourceTransaction: hash });
    expect(await system.countDeposits(link.to)).toBe(0);
  });

  test("sent straight to the owner is shown to owner and payer as a wrong token", async () => {
    const link = await createLink();
    const hash = await chain.give({ to: link.to, amount: 25n * units, token: "bridged" });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual(untouched);
    expect(await system.countDeposits(link.to)).toBe(1);
    const { wrongToken } = await tell(link.id);
    expect(wrongToken).toEqual({ amount: "25", symbol: "USDC.e", sourceTransaction: hash });
    expect(await pageOf(link, "en")).toContain(
      "25 USDC.e arrived, but USDC.e is not USDC and does not pay this link. Do not send it again",
    );
    expect(await pageOf(link, "de")).toContain(
      "25 USDC.e sind eingegangen, aber USDC.e ist nicht USDC und bezahlt diesen Link nicht.",
    );
  });

  test("does not keep the right token from paying the link afterwards", async () => {
    const link = await createLink();
    await chain.give({ to: link.to, amount: 25n * units, token: "bridged" });
    const hash = await chain.pay({ ...link, amount: 25n * units });
    await system.settleAll();
    expect(await system.show(link.id)).toEqual({
      status: "completed",
      receivedAmount: "25",
      payments: [counted("25", hash)],
    });
    expect((await tell(link.id)).wrongToken).toBeNull();
  });

  // A shop's address is the same for all its links: other payers' money is not theirs to see.
  test("of another amount, or from before the link, is not shown to its payer", async () => {
    const owner = openAccount();
    const first = await createLink({ owner });
    await chain.give({ to: first.to, amount: 24n * units, token: "bridged" });
    await system.settleAll();
    expect(await system.countDeposits(first.to)).toBe(1);
    expect((await tell(first.id)).wrongToken).toBeNull();
    await chain.mine();
    const later = await createLink({ toAmount: "24", owner });
    expect(later.to).toBe(first.to);
    expect((await tell(later.id)).wrongToken).toBeNull();
  });
});
