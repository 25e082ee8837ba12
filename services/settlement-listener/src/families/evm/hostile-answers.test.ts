import { afterAll, beforeAll, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createCatalogue } from "@payment-links/contracts";
import { createHeldClock } from "@payment-links/runtime";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Spoiling, hostileAnswer, plausibleAnswer } from "../../testing/hostile-answers.ts";
import { type ReaderRig, openPaidChain, openReaderRig } from "../../testing/open-reader-rig.ts";
import { blockOf } from "../../watch/chain/block-of.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { ChainMovedError } from "../../watch/chain/watch-context.ts";
import { type EvmChain, evmChainOf } from "./evm-chain.ts";
import { createEvmReader } from "./evm-reader.ts";
import { findTransfers, readTimes } from "../../watch/transfers/find-transfers.ts";
import { ChainUnreachableError } from "../../watch/chain-reader.ts";
import type { EvmReads } from "./evm-reads.ts";
import { propertyRuns } from "@payment-links/contracts/testing/property-runs";

const runs = propertyRuns({ commit: 500, soak: 5_000 });

const setup = useRig(() => openPaidChain([1, 0, 2, 1]));
let rig: ReaderRig;
let chain: EvmChain;
const clock = createHeldClock(new Date());
beforeAll(async () => {
  process.stderr.write(`hostile answers: SEED=${runs.seed}\n`);
  // A rest ends with the next question, as the clock is moved before each.
  rig = await openReaderRig(setup.chain, {
    clock,
    providerCount: 2,
    timing: { timeoutMs: 60_000, askingMsMax: 60_000, restMs: 1, restMsMax: 1 },
  });
  const { catalogueData, chainId } = setup.chain;
  const catalogue = createCatalogue(catalogueData);
  chain = evmChainOf(
    catalogue,
    catalogue.chains.find(({ id }) => id === chainId) ?? { id: chainId },
  );
});
afterAll(() => rig?.close());

/** What a watch asks; each in one round, of the one provider that is hostile. */
const questions: Record<string, (reader: EvmReads) => Promise<unknown>> = {
  heads: (reader) => reader.readHeads(),
  headers: async (reader) => {
    const read = await reader.readHeaders(range());
    // What becomes a row has values that a row can hold.
    for (const header of read) blockOf(header).minedAt.toISOString();
  },
  logs: (reader) => reader.readLogs(range()),
  checkedLogs: async (reader) => reader.readLogs({ ...range(), headers: await honestHeaders() }),
  receipts: (reader) => reader.readReceipts(setup.paid.map(({ hash }) => hash)),
  calls: (reader) => reader.readCalls(setup.paid.map(({ hash }) => hash)),
  senders: (reader) => reader.readSenders(setup.paid.map(({ hash }) => hash)),
  usedNonces: (reader) => reader.readUsedNonces(`0x${"11".repeat(20)}`, setup.lastBlock),
  chainFault: (reader) => findChainFault(chain, reader),
  transfers: async (reader) => {
    const watched = createEvmReader(reader, chain);
    const { pointers } = await watched.readPointers(range());
    const lines = { settle: setup.lastBlock, final: setup.lastBlock };
    const times = await readTimes(watched, pointers);
    const found = await findTransfers({ chain, reader: watched }, { pointers, times, lines });
    for (const { occurredAt } of found) occurredAt.toISOString();
    return found;
  },
};
const range = () => ({ fromBlock: setup.firstBlock, toBlock: setup.lastBlock });

/** Which transactions have logs in the range, read in as many parts as it has blocks at most. */
const readAllLogs = async () => {
  const hashes: string[] = [];
  for (let fromBlock = setup.firstBlock; fromBlock <= setup.lastBlock;) {
    const { logs, end } = await rig.reader.readLogs({ ...range(), fromBlock });
    expect(end.number).toBeGreaterThanOrEqual(fromBlock);
    hashes.push(...logs.map(({ transactionHash }) => transactionHash));
    fromBlock = end.number + 1;
  }
  return hashes;
};

let headers: Awaited<ReturnType<EvmReads["readHeaders"]>> | undefined;
const honestHeaders = async () => (headers ??= await rig.reader.readHeaders(range()));

const ask = async (what: string, { spoil }: Spoiling): Promise<void> => {
  await honestHeaders();
  const [hostile] = rig.witnesses;
  if (hostile === undefined) throw new Error("there is a provider");
  clock.advance(10);
  const playing = rig.rpc.play({ kind: "hostile", spoil }, { but: ["eth_chainId"] });
  try {
    await questions[what]?.(hostile.reader);
  } catch (error) {
    if (error instanceof ChainUnreachableError || error instanceof ChainMovedError) return;
    throw error;
  } finally {
    playing.stop();
  }
};

test("hostile answers: the reader answers, or says that nobody does, and nothing else", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(questions)),
      fc.oneof({ weight: 9, arbitrary: hostileAnswer }, { weight: 1, arbitrary: plausibleAnswer }),
      ask,
    ),
    runs,
  );
  expect(rig.rpc.counts().struck.get("hostile")).toBeGreaterThanOrEqual(runs.numRuns);
  // Afterwards it reads as before, if in smaller parts: an answer that is too large narrows what is asked.
  clock.advance(1_000);
  expect(await readAllLogs()).toEqual(setup.paid.map(({ hash }) => hash));
}, 600_000);
