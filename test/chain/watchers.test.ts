import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import { Client } from "pg";
import { startChild, waitListening } from "../rig/child.ts";
import { type PaymentSystem, openPaymentSystem } from "../rig/payment-system.ts";
import { counted } from "../rig/shown-payments.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const units = 1_000_000n;
const policyBlocks = 2;

describe("watchers that come, go and are killed", () => {
  let chain: Chain;
  let system: PaymentSystem;

  beforeEach(async () => {
    chain = await openChain({ slotsInEpoch: 2 });
    system = await openPaymentSystem({ chain, settings: { finality: { blocks: policyBlocks } } });
  });
  afterEach(async () => {
    await system?.close();
    await chain?.close();
  });

  test("a payment is kept for a link of which nothing was heard yet", async () => {
    await system.startWatcher();
    system.holdLinks(true);
    const link = await system.createLink({ toAmount: "25" });
    const hash = await chain.pay({ ...link, amount: 25n * units });
    await chain.mine(policyBlocks + 1);
    await system.scanAll();
    expect(await system.show(link.id)).toMatchObject({ status: "active", payments: [] });
    system.holdLinks(false);
    const shown = await system.showWhen(link.id, ({ status }) => status === "completed");
    expect(shown).toMatchObject({ receivedAmount: "25", payments: [counted("25", hash)] });
  });

  test("of two watchers one leads; when it stops the other goes on, and nothing is doubled", async () => {
    const watchers = [await system.startWatcher(), await system.startWatcher()];
    const link = await system.createLink({ toAmount: "100" });
    const hashes: string[] = [];
    const payAndSettle = async () => {
      hashes.push(await chain.pay({ ...link, amount: 3n * units }));
      await system.settleAll();
    };
    await payAndSettle();
    await payAndSettle();
    for (const watcher of watchers) {
      await watcher.stop();
      await system.startWatcher();
      await payAndSettle();
    }
    const { payments, receivedAmount } = await system.show(link.id);
    expect(receivedAmount).toBe("12");
    expect(payments).toHaveLength(4);
    expect(payments).toEqual(expect.arrayContaining(hashes.map((hash) => counted("3", hash))));
  });

  test.each([
    ["what was seen", 1],
    ["what was settled", policyBlocks + 1],
  ])("killed between scan and commit of %s, its successor tells it once", async (_step, blocks) => {
    // The links have to be known before the process to be killed watches alone.
    const teacher = await system.startWatcher();
    const link = await system.createLink({ toAmount: "25" });
    await system.heard(link.id);
    await system.scanAll();
    await teacher.stop();

    const { release } = await holdOutbox();
    const hash = await chain.pay({ ...link, amount: 25n * units });
    await chain.mine(blocks);
    const child = startChild("test/rig/watcher-server.ts", system.watcherEnv);
    await waitListening(child);
    await waitUntil("it stands before its commit", isBlocked);
    await child.end("SIGKILL");
    await release();
    expect(await system.show(link.id)).toMatchObject({ payments: [] });

    await system.startWatcher();
    await chain.mine(policyBlocks);
    await waitUntil(
      "the successor has taken over",
      async () => (await system.show(link.id)).status === "completed",
    );
    expect(await system.show(link.id)).toEqual({
      status: "completed",
      receivedAmount: "25",
      payments: [counted("25", hash)],
    });
  });

  /** Blocks the writing of events, so that a transaction stops between its rows and its commit. */
  const holdOutbox = async () => {
    const client = new Client({ connectionString: system.settlements.database.adminUrl });
    await client.connect();
    await client.query("BEGIN; LOCK TABLE settlement_listener.outbox IN SHARE MODE");
    const release = async () => {
      await client.query("ROLLBACK");
      await client.end();
    };
    return { release };
  };

  const isBlocked = async (): Promise<boolean> => {
    const { rowCount } = await system.settlementsDatabase.query(`
      SELECT 1 FROM pg_locks
      WHERE NOT granted AND relation = 'settlement_listener.outbox'::regclass
        AND mode = 'RowExclusiveLock'`);
    return rowCount !== 0;
  };
});
