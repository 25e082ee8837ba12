import { afterAll, beforeAll, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createCatalogue } from "@payment-links/contracts";
import { createFakeClock } from "@payment-links/runtime";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  type Corruption,
  hostileResponse,
  plausibleResponse,
} from "../../testing/hostile-responses.ts";
import {
  type ReaderRig,
  startPaidChain,
  createReaderRig,
} from "../../testing/create-reader-rig.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { type EvmChain, toEvmChain } from "./evm-chain.ts";
import { ChainUnreachableError } from "../../reads/chain-reader.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const runs = getPropertyRunOptions({ commit: 500, soak: 5_000 });

const setup = useRig(() => startPaidChain([1, 0, 2, 1]));
let rig: ReaderRig;
let chain: EvmChain;
const clock = createFakeClock(new Date());
beforeAll(async () => {
  process.stderr.write(`hostile responses: SEED=${runs.seed}\n`);
  // The clock advances before each request, so every cooldown is over by then.
  rig = await createReaderRig(setup.chain, {
    clock,
    providerCount: 2,
    timing: { timeoutMs: 60_000, failoverMsMax: 60_000, cooldownMs: 1, cooldownMsMax: 1 },
  });
  const { catalogueData, chainId } = setup.chain;
  const catalogue = createCatalogue(catalogueData);
  chain = toEvmChain(
    catalogue,
    catalogue.chains.find(({ id }) => id === chainId) ?? { id: chainId },
  );
});
afterAll(() => rig?.close());

/** The reads of a watch. Each one asks only the hostile provider, and asks it only once. */
const reads: Record<string, (reader: ReaderRig["reader"]) => Promise<unknown>> = {
  heads: (reader) => reader.readHeads(),
  headers: async (reader) => {
    const receivedHeaders = await reader.readHeaders(range());
    // Values that are stored must fit into the columns of a row.
    for (const { timestampSeconds } of receivedHeaders)
      new Date(timestampSeconds * 1000).toISOString();
  },
  pointers: (reader) => reader.readPointers(range()),
  checkedPointers: async (reader) =>
    reader.readPointers({ ...range(), headers: await readHonestHeaders() }),
  receipts: (reader) => reader.readReceipts(setup.paidTransactions.map(({ hash }) => hash)),
  calls: (reader) => reader.readCalls(setup.paidTransactions.map(({ hash }) => hash)),
  senders: (reader) => reader.readSenders(setup.paidTransactions.map(({ hash }) => hash)),
  usedNonces: (reader) => reader.readUsedNonces(`0x${"11".repeat(20)}`, setup.lastBlock),
  chainFault: (reader) => findChainFault(chain, reader),
  transfers: async (reader) => {
    const { pointers } = await reader.readPointers(range());
    for (const { timestampSeconds = 0 } of pointers)
      new Date(timestampSeconds * 1000).toISOString();
    await reader.readReceipts(pointers.map(({ transactionHash }) => transactionHash));
  },
};
const range = () => ({ fromBlock: setup.firstBlock, toBlock: setup.lastBlock });

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

test("returns the other receipts if the response for one of them is invalid (rule CHAIN-32)", async () => {
  const singleRig = await createReaderRig(setup.chain);
  const hashes = setup.paidTransactions.map(({ hash }) => hash);
  const [invalidHash, ...otherHashes] = hashes;
  const fault = singleRig.rpc.injectFault({
    kind: "hostile",
    corrupt: (reply) =>
      JSON.stringify(reply, (_key, value: unknown) =>
        isRecord(value) && value["transactionHash"] === invalidHash && "status" in value
          ? { transactionHash: "0x1" }
          : value,
      ),
  });
  const receipts = await singleRig.reader.readReceipts(hashes);
  expect([...receipts.keys()]).toEqual(otherHashes);
  expect(await singleRig.countDisagreements("invalid_item")).toBe(1);
  await expect(singleRig.reader.readReceipts([invalidHash ?? ""])).rejects.toThrow(
    ChainUnreachableError,
  );
  fault.stop();
  await singleRig.close();
});

/** Returns the transaction hashes of the range's logs. It needs at most one read per block. */
const readAllLogs = async () => {
  const hashes: string[] = [];
  for (let fromBlock = setup.firstBlock; fromBlock <= setup.lastBlock;) {
    const { pointers, endHeader } = await rig.reader.readPointers({ ...range(), fromBlock });
    expect(endHeader.number).toBeGreaterThanOrEqual(fromBlock);
    hashes.push(...pointers.map(({ transactionHash }) => transactionHash));
    fromBlock = endHeader.number + 1;
  }
  return hashes;
};

let cachedHeaders: Awaited<ReturnType<ReaderRig["reader"]["readHeaders"]>> | undefined;
const readHonestHeaders = async () => (cachedHeaders ??= await rig.reader.readHeaders(range()));

const runHostileRead = async (readName: string, { corrupt }: Corruption): Promise<void> => {
  await readHonestHeaders();
  const [hostileProvider] = rig.verifiers;
  if (hostileProvider === undefined) throw new Error("there is no provider");
  clock.advance(10);
  const activeFault = rig.rpc.injectFault(
    { kind: "hostile", corrupt },
    { excludedMethods: ["eth_chainId"] },
  );
  try {
    await reads[readName]?.(hostileProvider.reader);
  } catch (error) {
    if (error instanceof ChainUnreachableError) return;
    throw error;
  } finally {
    activeFault.stop();
  }
};

test("the EVM reader returns a result or an expected error for every hostile response", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(reads)),
      fc.oneof(
        { weight: 9, arbitrary: hostileResponse },
        { weight: 1, arbitrary: plausibleResponse },
      ),
      runHostileRead,
    ),
    runs,
  );
  expect(rig.rpc.getCounts().hits.get("hostile")).toBeGreaterThanOrEqual(runs.numRuns);
  // After the hostile responses, the reader returns the correct logs again. It may need more
  // requests, because a response that is too large reduces the range.
  clock.advance(1_000);
  expect(await readAllLogs()).toEqual(setup.paidTransactions.map(({ hash }) => hash));
}, 600_000);
