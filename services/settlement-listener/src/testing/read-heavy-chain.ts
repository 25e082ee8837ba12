import { openCatalogue } from "@payment-links/contracts";
import { openLog, openMetrics, systemClock } from "@payment-links/runtime";
import { evmFamily } from "../families/evm/evm-family.ts";
import { solanaFamily } from "../families/solana/solana-family.ts";
import { createRpcMetrics } from "../rpc/rpc-metrics.ts";
import { findTransfers, readTimes } from "../watch/transfers/find-transfers.ts";

/**
 * A program that reads a range of a chain whose node answers with as much as anybody can write there. It
 * prints what it found and its peak heap in bytes. Run it with the heap of the chart:
 * `node --max-old-space-size=288 read-heavy-chain.ts <url> <chain id> <from> <to> [owner]`
 */
const [url = "", chainId = "", from = "0", to = "0", owner] = process.argv.slice(2);
const catalogue = openCatalogue();
const chain = catalogue.chains.find(({ id }) => id === chainId);
if (chain === undefined) throw new Error(`the catalogue has no chain ${chainId}`);
const owners = owner === undefined ? [] : [owner];
const family = chain.chainType === "SVM" ? solanaFamily : evmFamily;
const { close, reader } = family(
  catalogue,
  chain,
  {},
)({
  urls: [url],
  clock: systemClock,
  log: openLog({ service: "test", level: "fatal" }),
  metrics: createRpcMetrics(openMetrics("test")),
  owners: {
    read: async () => owners,
    readByHearing: async () => owners.map((address) => ({ address, isProven: false })),
  },
});

let peakBytes = 0;
const measuring = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage().heapUsed);
}, 10);
const found = new Set<string>();
let reads = 0;
for (let fromBlock = Number(from); fromBlock <= Number(to);) {
  // As steps of the first pass: what a step leaves is read in the next.
  const toBlock = Math.min(Number(to), fromBlock);
  const { end, pointers } = await reader.readPointers({ fromBlock, toBlock });
  const times = await readTimes(reader, pointers);
  const lines = { settle: -1, final: -1 };
  for (const { transactionHash } of await findTransfers(
    { chain: { id: chainId }, reader },
    { pointers, times, lines },
  )) {
    found.add(transactionHash);
  }
  reads += 1;
  fromBlock = end.number + 1;
}
clearInterval(measuring);
process.stdout.write(`${JSON.stringify({ foundCount: found.size, peakBytes, reads })}\n`);
close();
