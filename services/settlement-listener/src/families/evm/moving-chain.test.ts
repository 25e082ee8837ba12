import { afterEach, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { RpcFaultScript } from "../../testing/scripted-rpc.ts";
import { ChainUnreachableError } from "../../watch/chain-reader.ts";
import type { ProxyLog } from "./evm-reads.ts";
import { type ReaderRig, openPaidChain, openReaderRig } from "../../testing/open-reader-rig.ts";

const setup = useRig(() =>
  openPaidChain(Array.from({ length: 40 }, (_, index) => (index * 7) % 3)),
);
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const providerCount = 2;

/** A small generator (mulberry32): the same seed gives the same faults. */
const createRandom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const faults: RpcFaultScript[] = [
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

/** Keeps reading until an answer comes, as a watcher's loop does, and fails if none ever comes. */
const persist = <T>(what: string, read: () => Promise<T>): Promise<T> =>
  waitUntil(what, () =>
    read().catch((error: unknown) => {
      if (error instanceof ChainUnreachableError) return undefined;
      throw error;
    }),
  );

/** One walk over the chain, stretch by stretch: headers, logs and receipts. */
const walk = async ({ reader }: ReaderRig, atEachStep: () => void): Promise<ProxyLog[]> => {
  const found: ProxyLog[] = [];
  const { lastBlock } = setup;
  for (let fromBlock = setup.firstBlock; fromBlock <= lastBlock;) {
    atEachStep();
    const toBlock = Math.min(lastBlock, fromBlock + 7);
    const headers = await persist("headers", async () => {
      const read = await reader.readHeaders({ fromBlock, toBlock });
      return read.length === toBlock - fromBlock + 1 && read;
    });
    const { logs, end } = await persist("logs", () =>
      reader.readLogs({ fromBlock, toBlock, headers: headers === false ? [] : headers }),
    );
    const hashes = logs.map(({ transactionHash }) => transactionHash);
    await persist("receipts", async () => {
      const receipts = await reader.readReceipts(hashes);
      return receipts.size === new Set(hashes).size;
    });
    found.push(...logs);
    fromBlock = end.number + 1;
  }
  return found;
};

test.each([1, 2, 3])(
  "faults at random, seed %i: nothing is missed, nothing doubled",
  async (seed) => {
    rig = await openReaderRig(setup.chain, {
      providerCount,
      timing: { timeoutMs: provokedTimeoutMs(400) },
    });
    const random = createRandom(seed);
    const { rpc, rpc2 } = rig;
    const found = await walk(rig, () => {
      const fault = faults[Math.floor(random() * faults.length)] ?? { kind: "down" };
      const times = 1 + Math.floor(random() * 4);
      // If both leave logs out, nobody can know of them.
      const victim = fault.kind === "empty_logs" || random() < 0.5 ? rpc : rpc2;
      victim.play(fault, { times });
    });
    expect(found.map(({ transactionHash }) => transactionHash)).toEqual(
      setup.paid.map(({ hash }) => hash),
    );
    const struck = [rpc, rpc2].flatMap((each) => [...each.counts().struck.values()]);
    expect(struck.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(2);
  },
);

// Guards against logs of one chain under the hash of another. It changes the chain, so it is the
// last test.
test("a reorg between the logs and the end: the answer is of one chain", async () => {
  rig = await openReaderRig(setup.chain);
  const { reader, rpc } = rig;
  const { lastBlock: toBlock, chain } = setup;
  const fromBlock = toBlock - 3;
  const [before] = await reader.readHeaders({ fromBlock: toBlock, toBlock });
  const answered = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const hold = () => {
    answered.resolve();
    return released.promise;
  };
  rpc.play({ kind: "held", hold }, { methods: ["eth_getLogs"], times: 1 });
  const reading = reader.readLogs({ fromBlock, toBlock });
  await answered.promise;
  await chain.reorg(4);
  released.resolve();
  const { end, logs } = await reading;
  const [after] = await reader.readHeaders({ fromBlock: toBlock, toBlock });
  expect(after).toMatchObject(end);
  expect(end.hash).not.toBe(before?.hash);
  expect(logs).toEqual([]);
  expect(rpc.counts().methods.get("eth_getLogs")).toBe(2);
});
