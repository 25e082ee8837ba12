import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createCatalogue, keccak256Hex, newId } from "@payment-links/contracts";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import { type Rig, openRig } from "../services/links-api/src/testing/open-rig.ts";
import { sampleAccount, shopAddress } from "../services/links-api/src/testing/samples.ts";

type Step = { kind: string; to: string; value: string; data: string };

/** One of the rig's payers; their allowance for the proxy was set earlier. */
const payer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const gas = "0x7a120";

let chain: Chain;
let rig: Rig;

beforeAll(async () => {
  chain = await openChain();
  const { chains, tokens } = chain.catalogueData;
  const catalogue = createCatalogue({
    chains,
    tokens: tokens.map((token) =>
      token.id === "silent" ? { ...token, approveResetsFirst: true } : token,
    ),
  });
  rig = await openRig({
    catalogue,
    settlementChains: [chain.chainId],
    transferChains: [chain.chainId],
  });
});

afterAll(async () => {
  await rig?.close();
  await chain?.close();
});

const createLink = (tokenId: string, toAmount: string): Promise<string> => {
  const wallet = {
    id: newId("wallet"),
    walletAddress: shopAddress,
    tokenId,
    chainType: "EVM" as const,
    isDefault: true,
    isChainDefault: true,
    provider: null,
  };
  return rig.createLink(rig.giveKey(sampleAccount({ wallets: [wallet] })), { toAmount });
};

const instruct = async (linkId: string) =>
  (await rig.call(`/checkout/payment-links/${linkId}`)).json.instructions;

/** Sends a step as it is, mines it, and answers its receipt. */
const send = async ({ to, value, data }: Step) => {
  const hex = `0x${BigInt(value).toString(16)}`;
  const hash = await chain.ask("eth_sendTransaction", [{ from: payer, to, data, value: hex, gas }]);
  await chain.mine();
  return chain.client.getTransactionReceipt({ hash: hash as `0x${string}` });
};

// Guards the calldata itself: a real node carries out what a wallet is given.
describe("what the checkout tells a payer to send", () => {
  test.each([
    ["usdc", "25.000001", 25_000_001n, ["approve", "pay"]],
    ["coin18", "0.000000000000000001", 1n, ["approve", "pay"]],
    ["silent", "12.5", 12_500_000n, ["reset_allowance", "approve", "pay"]],
  ] as const)(
    "in %s moves %s to the owner, and leaves no allowance",
    async (token, amount, units, kinds) => {
      const linkId = await createLink(token, amount);
      const { steps, paymentReference, proxyAddress } = await instruct(linkId);
      expect(steps.map(({ kind }: Step) => kind)).toEqual(kinds);
      const before = await chain.received(shopAddress, token, await chain.headNumber());
      let last;
      for (const step of steps) {
        last = await send(step);
        expect([step.kind, last.status]).toEqual([step.kind, "success"]);
      }
      const after = await chain.received(shopAddress, token, await chain.headNumber());
      expect(after.amount - before.amount).toBe(units);
      const log = last?.logs.find(({ address }) => address === proxyAddress.toLowerCase());
      expect(log?.topics[1]).toBe(keccak256Hex(paymentReference));
      const { status } = await send(steps.at(-1));
      expect(status).toBe("reverted");
    },
  );

  test("by suffix moves the token to the owner in one transaction, whose calldata ends with the reference", async () => {
    const { ways, paymentReference } = await instruct(await createLink("usdc", "25.000001"));
    const { steps } = ways.find(({ kind }: { kind: string }) => kind === "suffix");
    const before = await chain.received(shopAddress, "usdc", await chain.headNumber());
    const receipt = await send(steps[0]);
    expect([steps.length, receipt.status]).toEqual([1, "success"]);
    const after = await chain.received(shopAddress, "usdc", await chain.headNumber());
    expect(after.amount - before.amount).toBe(25_000_001n);
    const { input } = await chain.client.getTransaction({ hash: receipt.transactionHash });
    expect(`0x${input.slice(-32)}`).toBe(paymentReference);
  });

  test("in the chain's own coin sends it on to the owner", async () => {
    const { steps, paymentReference } = await instruct(await createLink("coin", "1.5"));
    const before = await chain.client.getBalance({ address: shopAddress });
    const receipt = await send(steps[0]);
    expect([steps.length, receipt.status]).toEqual([1, "success"]);
    const after = await chain.client.getBalance({ address: shopAddress });
    expect(after - before).toBe(1_500_000_000_000_000_000n);
    expect(receipt.logs[0]?.topics[1]).toBe(keccak256Hex(paymentReference));
  });

  test("where the token wants a reset, would fail without it", async () => {
    const { steps } = await instruct(await createLink("silent", "1"));
    const [reset, approve] = steps;
    await send(reset);
    expect((await send(approve)).status).toBe("success");
    expect((await send(approve)).status).toBe("reverted");
  });
});
