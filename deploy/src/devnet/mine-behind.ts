import { createTestClient, http, publicActions } from "viem";
import { type Log, type Loop, startLoop, systemClock } from "@payment-links/runtime";

const waitMs = 1_000;

/** By then a transaction is final, whatever depth the watcher waits for. */
const blocksBehind = 4n;

/**
 * Mines a block each second for as long as one of the newest four holds a transaction. So what a
 * browser pays becomes final by itself, and a chain at rest does not grow.
 */
export const mineBehindTransactions = (url: string, log: Log): Loop => {
  const client = createTestClient({ mode: "anvil", transport: http(url), cacheTime: 0 });
  const node = client.extend(publicActions);
  let restingAt: bigint | undefined;
  const run = async (): Promise<void> => {
    const head = await node.getBlockNumber();
    if (head === restingAt) return;
    for (let number = head; number > 0n && number > head - blocksBehind; number -= 1n) {
      if ((await node.getBlockTransactionCount({ blockNumber: number })) === 0) continue;
      await node.mine({ blocks: 1 });
      return;
    }
    restingAt = head;
  };
  return startLoop({ name: "mine-behind", clock: systemClock, log, waitMs, run });
};
