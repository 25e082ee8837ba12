import { afterEach, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { ScriptedFault } from "../../testing/scripted-rpc.ts";
import { ChainUnreachableError, type TransactionPointer } from "../../reads/chain-reader.ts";
import {
  type ReaderRig,
  startPaidChain,
  createReaderRig,
} from "../../testing/create-reader-rig.ts";

const setup = useRig(() =>
  startPaidChain(Array.from({ length: 40 }, (_, index) => (index * 7) % 3)),
);
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const providerCount = 2;

/** A small random number generator (mulberry32). The same seed produces the same faults. */
const createRandom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const faults: ScriptedFault[] = [
  { kind: "empty_logs" },
  { kind: "duplicate_logs" },
  { kind: "stale_head", blockCount: 5 },
  { kind: "rate_limited" },
  { kind: "range_limit", blocksMax: 3 },
  { kind: "late", delayMs: 1_000 },
  { kind: "wrong_chain", chainId: 1 },
  { kind: "no_tags" },
  { kind: "no_batches" },
  { kind: "no_receipts" },
  { kind: "garbage" },
  { kind: "nonsense" },
  { kind: "server_error" },
  { kind: "down" },
];

/**
 * Retries a read until it succeeds, like a watch does. Fails after a time limit.
 */
const retryUntilRead = <T>(description: string, read: () => Promise<T>): Promise<T> =>
  waitUntil(description, () =>
    read().catch((error: unknown) => {
      if (error instanceof ChainUnreachableError) return undefined;
      throw error;
    }),
  );

/** Reads the headers, logs and receipts of the chain once, range by range. */
const readWholeChain = async (
  { reader }: ReaderRig,
  beforeEachStep: () => void,
): Promise<TransactionPointer[]> => {
  const foundPointers: TransactionPointer[] = [];
  const { lastBlock } = setup;
  for (let fromBlock = setup.firstBlock; fromBlock <= lastBlock;) {
    beforeEachStep();
    const toBlock = Math.min(lastBlock, fromBlock + 7);
    const headers = await retryUntilRead("headers", async () => {
      const receivedHeaders = await reader.readHeaders({ fromBlock, toBlock });
      return receivedHeaders.length === toBlock - fromBlock + 1 && receivedHeaders;
    });
    const { pointers, endHeader } = await retryUntilRead("logs", () =>
      reader.readPointers({ fromBlock, toBlock, headers: headers === false ? [] : headers }),
    );
    const hashes = pointers.map(({ transactionHash }) => transactionHash);
    await retryUntilRead("receipts", async () => {
      const receipts = await reader.readReceipts(hashes);
      return receipts.size === new Set(hashes).size;
    });
    foundPointers.push(...pointers);
    fromBlock = endHeader.number + 1;
  }
  return foundPointers;
};

test.each([1, 2, 3])(
  "the EVM reader reads every log exactly once despite random faults, seed %i",
  async (seed) => {
    rig = await createReaderRig(setup.chain, {
      providerCount,
      timing: { timeoutMs: provokedTimeoutMs(400) },
    });
    const random = createRandom(seed);
    const { rpc, rpc2 } = rig;
    const foundPointers = await readWholeChain(rig, () => {
      const fault = faults[Math.floor(random() * faults.length)] ?? { kind: "down" };
      const times = 1 + Math.floor(random() * 4);
      // If both providers omit logs, the reader cannot detect that. Therefore this fault affects
      // only one of them.
      const target = fault.kind === "empty_logs" || random() < 0.5 ? rpc : rpc2;
      target.injectFault(fault, { times });
    });
    expect(foundPointers.map(({ transactionHash }) => transactionHash)).toEqual(
      setup.paidTransactions.map(({ hash }) => hash),
    );
    const hitCounts = [rpc, rpc2].flatMap((proxy) => [...proxy.getCounts().hits.values()]);
    expect(hitCounts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(2);
  },
);

// Guards against combining logs of one fork with the block hash of another. This test changes the
// chain, so it must be the last one.
test("the EVM reader returns logs and end header of one fork when a reorg happens between them", async () => {
  rig = await createReaderRig(setup.chain);
  const { reader, rpc } = rig;
  const { lastBlock: toBlock, chain } = setup;
  const fromBlock = toBlock - 3;
  const [headerBefore] = await reader.readHeaders({ fromBlock: toBlock, toBlock });
  const answered = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const waitForRelease = () => {
    answered.resolve();
    return released.promise;
  };
  rpc.injectFault({ kind: "held", waitForRelease }, { methods: ["eth_getLogs"], times: 1 });
  const pendingRead = reader.readPointers({ fromBlock, toBlock });
  await answered.promise;
  await chain.reorg(4);
  released.resolve();
  const { endHeader, pointers } = await pendingRead;
  const [headerAfter] = await reader.readHeaders({ fromBlock: toBlock, toBlock });
  expect(headerAfter).toMatchObject(endHeader);
  expect(endHeader.hash).not.toBe(headerBefore?.hash);
  expect(pointers).toEqual([]);
  expect(rpc.getCounts().methods.get("eth_getLogs")).toBe(2);
});
