import { describe, expect, test } from "@jest/globals";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { createPaymentSystem } from "../rig/payment-system.ts";
import { createAppliedPayment } from "../rig/expected-payments.ts";

const baseUnitsPerToken = 1_000_000n;
const finalityBlocks = 3;
/** The node's finalized block is twice this many blocks behind its head. */
const slotsInEpoch = 4;
const blocksUntilFinal = 2 * slotsInEpoch;

const isSettled = ({ payments }: { payments: { status: string }[] }) =>
  payments.some(({ status }) => status === "settled");

describe("a chain reorg", () => {
  test("past a final block halts the watch of this chain and of no other (rule CHAIN-7)", async () => {
    const chain = await startEvmChain({ slotsInEpoch });
    const otherChain = await startEvmChain({ slotsInEpoch, chainId: "1338" });
    const settings = { finality: { blocks: finalityBlocks } };
    const system = await createPaymentSystem({ chain, otherChains: [otherChain], settings });
    try {
      const watcher = await system.startWatcher();
      const link = await system.createLink({ toAmount: "100" });
      const hash = await chain.pay({ ...link, amount: 10n * baseUnitsPerToken });
      await chain.mine();
      await system.waitForLink(link.id, ({ payments }) => payments[0]?.status === "processing");
      await chain.mine(blocksUntilFinal + 2);
      await system.waitForLink(link.id, isSettled);
      await system.waitUntilScanned();
      await chain.reorg(blocksUntilFinal + 2);
      await chain.mine();
      await system.waitUntilHalted();
      expect((await system.readProgress()).haltedReason).not.toBeNull();
      expect(JSON.stringify(await watcher.status())).toMatch(/halt/);

      const sameChainLink = await system.createLink({ toAmount: "100" });
      await chain.pay({ ...sameChainLink, amount: baseUnitsPerToken });
      await chain.mine(finalityBlocks + 1);
      const otherChainLink = await system.createLink({ toAmount: "100", tokenId: "usdc-1338" });
      const otherChainHash = await otherChain.pay({
        ...otherChainLink,
        amount: 5n * baseUnitsPerToken,
      });
      await otherChain.mine(finalityBlocks + 1);
      await system.waitForLink(otherChainLink.id, isSettled);
      expect(await system.readLink(otherChainLink.id)).toMatchObject({
        payments: [createAppliedPayment("5", otherChainHash)],
      });
      expect((await system.readProgress(otherChain)).haltedReason).toBeNull();
      expect(await system.readLink(sameChainLink.id)).toMatchObject({ payments: [] });
      expect(await system.readLink(link.id)).toMatchObject({
        payments: [createAppliedPayment("10", hash)],
      });
    } finally {
      await system.close();
      await otherChain.close();
      await chain.close();
    }
  });
});
