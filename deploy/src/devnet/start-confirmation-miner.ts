import { createTestClient, http, publicActions } from "viem";
import { type Log, type Loop, startLoop, systemClock } from "@payment-links/runtime";

const waitMs = 1_000;

/** The number of blocks after which a transaction is final at any configured depth. */
const confirmationBlocks = 4n;

/**
 * Mines a block each second while one of the newest four blocks contains a transaction. A payment
 * from a browser becomes final without further action, and an idle chain does not grow.
 */
export const startConfirmationMiner = (url: string, log: Log): Loop => {
  const client = createTestClient({ mode: "anvil", transport: http(url), cacheTime: 0 });
  const node = client.extend(publicActions);
  let confirmedHead: bigint | undefined;
  const run = async (): Promise<void> => {
    const head = await node.getBlockNumber();
    if (head === confirmedHead) return;
    for (let number = head; number > 0n && number > head - confirmationBlocks; number -= 1n) {
      if ((await node.getBlockTransactionCount({ blockNumber: number })) === 0) continue;
      await node.mine({ blocks: 1 });
      return;
    }
    confirmedHead = head;
  };
  return startLoop({ name: "mine-behind", clock: systemClock, log, waitMs, run });
};
