import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { keccak256Hex } from "@payment-links/chains";
import { createCatalogue, newId } from "@payment-links/contracts";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { type Rig, createRig } from "../services/links-api/src/testing/create-rig.ts";
import { sampleAccount, shopAddress } from "../services/links-api/src/testing/samples.ts";

type PaymentStep = { kind: string; to: string; value: string; data: string };

/** One of the rig's payers, who has already approved the proxy. */
const payerAddress = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const gas = "0x7a120";

let chain: LocalEvmChain;
let rig: Rig;

beforeAll(async () => {
  chain = await startEvmChain();
  const { chains, tokens } = chain.catalogueData;
  const catalogue = createCatalogue({
    chains,
    tokens: tokens.map((token) =>
      token.id === "silent" ? { ...token, approveResetsFirst: true } : token,
    ),
  });
  rig = await createRig({
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
  return rig.createLink(rig.createKeyHeaders(sampleAccount({ wallets: [wallet] })), { toAmount });
};

const fetchInstructions = async (linkId: string) =>
  (await rig.call(`/checkout/payment-links/${linkId}`)).json.instructions;

/** Sends a step unchanged, mines it, and returns its receipt. */
const sendStep = async ({ to, value, data }: PaymentStep) => {
  const hexValue = `0x${BigInt(value).toString(16)}`;
  const hash = await chain.callRpc("eth_sendTransaction", [
    { from: payerAddress, to, data, value: hexValue, gas },
  ]);
  await chain.mine();
  return chain.client.getTransactionReceipt({ hash: hash as `0x${string}` });
};

// Verifies the calldata: a real node executes what the wallet receives.
describe("the steps that the checkout gives a payer", () => {
  test.each([
    ["usdc", "25.000001", 25_000_001n, ["approve", "pay"]],
    ["coin18", "0.000000000000000001", 1n, ["approve", "pay"]],
    ["silent", "12.5", 12_500_000n, ["reset_allowance", "approve", "pay"]],
  ] as const)(
    "in %s, transfer %s to the owner and leave no allowance",
    async (token, amount, expectedBaseUnits, expectedKinds) => {
      const linkId = await createLink(token, amount);
      const { steps, paymentReference, proxyAddress } = await fetchInstructions(linkId);
      expect(steps.map(({ kind }: PaymentStep) => kind)).toEqual(expectedKinds);
      const balanceBefore = await chain.readReceived(
        shopAddress,
        token,
        await chain.readHeadNumber(),
      );
      let lastReceipt;
      for (const step of steps) {
        lastReceipt = await sendStep(step);
        expect([step.kind, lastReceipt.status]).toEqual([step.kind, "success"]);
      }
      const balanceAfter = await chain.readReceived(
        shopAddress,
        token,
        await chain.readHeadNumber(),
      );
      expect(balanceAfter.amount - balanceBefore.amount).toBe(expectedBaseUnits);
      const log = lastReceipt?.logs.find(({ address }) => address === proxyAddress.toLowerCase());
      expect(log?.topics[1]).toBe(keccak256Hex(paymentReference));
      const { status } = await sendStep(steps.at(-1));
      expect(status).toBe("reverted");
    },
  );

  test("by suffix, transfer the token to the owner in one transaction whose calldata ends with the reference", async () => {
    const { ways, paymentReference } = await fetchInstructions(
      await createLink("usdc", "25.000001"),
    );
    const { steps } = ways.find(({ kind }: { kind: string }) => kind === "suffix");
    const balanceBefore = await chain.readReceived(
      shopAddress,
      "usdc",
      await chain.readHeadNumber(),
    );
    const receipt = await sendStep(steps[0]);
    expect([steps.length, receipt.status]).toEqual([1, "success"]);
    const balanceAfter = await chain.readReceived(
      shopAddress,
      "usdc",
      await chain.readHeadNumber(),
    );
    expect(balanceAfter.amount - balanceBefore.amount).toBe(25_000_001n);
    const { input } = await chain.client.getTransaction({ hash: receipt.transactionHash });
    expect(`0x${input.slice(-32)}`).toBe(paymentReference);
  });

  test("in the chain's native coin, forward it to the owner", async () => {
    const { steps, paymentReference } = await fetchInstructions(await createLink("coin", "1.5"));
    const balanceBefore = await chain.client.getBalance({ address: shopAddress });
    const receipt = await sendStep(steps[0]);
    expect([steps.length, receipt.status]).toEqual([1, "success"]);
    const balanceAfter = await chain.client.getBalance({ address: shopAddress });
    expect(balanceAfter - balanceBefore).toBe(1_500_000_000_000_000_000n);
    expect(receipt.logs[0]?.topics[1]).toBe(keccak256Hex(paymentReference));
  });

  test("fail without the allowance reset for a token that requires it", async () => {
    const { steps } = await fetchInstructions(await createLink("silent", "1"));
    const [resetStep, approveStep] = steps;
    await sendStep(resetStep);
    expect((await sendStep(approveStep)).status).toBe("success");
    expect((await sendStep(approveStep)).status).toBe("reverted");
  });
});
