import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { Client } from "pg";
import { startChild, waitUntilListening } from "../rig/child.ts";
import { type PaymentSystem, createPaymentSystem } from "../rig/payment-system.ts";
import { createAppliedPayment } from "../rig/expected-payments.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const baseUnitsPerToken = 1_000_000n;
const finalityBlocks = 2;

describe("watchers that start, stop and crash", () => {
  let chain: LocalEvmChain;
  let system: PaymentSystem;

  beforeEach(async () => {
    chain = await startEvmChain({ slotsInEpoch: 2 });
    system = await createPaymentSystem({
      chain,
      settings: { finality: { blocks: finalityBlocks } },
    });
  });
  afterEach(async () => {
    await system?.close();
    await chain?.close();
  });

  test("a payment is stored even if its link has not been received yet", async () => {
    await system.startWatcher();
    system.holdLinkEvents(true);
    const link = await system.createLink({ toAmount: "25" });
    const hash = await chain.pay({ ...link, amount: 25n * baseUnitsPerToken });
    await chain.mine(finalityBlocks + 1);
    await system.waitUntilScanned();
    expect(await system.readLink(link.id)).toMatchObject({ status: "active", payments: [] });
    system.holdLinkEvents(false);
    const updatedLink = await system.waitForLink(link.id, ({ status }) => status === "completed");
    expect(updatedLink).toMatchObject({
      receivedAmount: "25",
      payments: [createAppliedPayment("25", hash)],
    });
  });

  test("with two watchers, one leads, the other takes over when it stops, and nothing is duplicated", async () => {
    const watchers = [await system.startWatcher(), await system.startWatcher()];
    const link = await system.createLink({ toAmount: "100" });
    const hashes: string[] = [];
    const payAndSettle = async () => {
      hashes.push(await chain.pay({ ...link, amount: 3n * baseUnitsPerToken }));
      await system.settleAll();
    };
    await payAndSettle();
    await payAndSettle();
    for (const watcher of watchers) {
      await watcher.stop();
      await system.startWatcher();
      await payAndSettle();
    }
    const { payments, receivedAmount } = await system.readLink(link.id);
    expect(receivedAmount).toBe("12");
    expect(payments).toHaveLength(4);
    expect(payments).toEqual(
      expect.arrayContaining(hashes.map((hash) => createAppliedPayment("3", hash))),
    );
  });

  test.each([
    ["an observed payment", 1],
    ["a settled payment", finalityBlocks + 1],
  ])(
    "after a crash between scan and commit of %s, the next watcher publishes it once",
    async (_case, blockCount) => {
      // The links must have arrived before the process that is killed becomes the only watcher.
      const firstWatcher = await system.startWatcher();
      const link = await system.createLink({ toAmount: "25" });
      await system.waitForLinkReceived(link.id);
      await system.waitUntilScanned();
      await firstWatcher.stop();

      const { releaseOutbox } = await lockOutbox();
      const hash = await chain.pay({ ...link, amount: 25n * baseUnitsPerToken });
      await chain.mine(blockCount);
      const child = startChild("test/rig/watcher-server.ts", system.watcherEnv);
      await waitUntilListening(child);
      await waitUntil("the outbox write is blocked before the commit", isOutboxWriteBlocked);
      await child.terminate("SIGKILL");
      await releaseOutbox();
      expect(await system.readLink(link.id)).toMatchObject({ payments: [] });

      await system.startWatcher();
      await chain.mine(finalityBlocks);
      await waitUntil(
        "the next watcher has taken over",
        async () => (await system.readLink(link.id)).status === "completed",
      );
      expect(await system.readLink(link.id)).toEqual({
        status: "completed",
        receivedAmount: "25",
        payments: [createAppliedPayment("25", hash)],
      });
    },
  );

  /** Blocks writes to the outbox, so that a transaction stops between its rows and its commit. */
  const lockOutbox = async () => {
    const client = new Client({ connectionString: system.settlements.database.adminUrl });
    await client.connect();
    await client.query("BEGIN; LOCK TABLE settlement_listener.outbox IN SHARE MODE");
    const releaseOutbox = async () => {
      await client.query("ROLLBACK");
      await client.end();
    };
    return { releaseOutbox };
  };

  const isOutboxWriteBlocked = async (): Promise<boolean> => {
    const { rowCount } = await system.settlementsDatabase.query(`
      SELECT 1 FROM pg_locks
      WHERE NOT granted AND relation = 'settlement_listener.outbox'::regclass
        AND mode = 'RowExclusiveLock'`);
    return rowCount !== 0;
  };
});
