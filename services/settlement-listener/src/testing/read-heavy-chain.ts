import { createReaders, createRpcMetrics } from "@payment-links/chains/readers";
import { loadCatalogue } from "@payment-links/contracts";
import { createLog, createMetrics, systemClock } from "@payment-links/runtime";
import { findTransfers, readBlockTimes } from "../watch/transfers/find-transfers.ts";

/**
 * Reads a range of a chain whose node returns as much data as anyone can write to that chain.
 * Prints the results and the peak heap in bytes. Run it with the chart's heap limit: `node
 * --max-old-space-size=288 read-heavy-chain.ts <url> <chain id> <from> <to> [owner]`
 */
const [url = "", chainId = "", fromText = "0", toText = "0", owner] = process.argv.slice(2);
const catalogue = loadCatalogue();
const chain = catalogue.chains.find(({ id }) => id === chainId);
if (chain === undefined) throw new Error(`the catalogue has no chain ${chainId}`);
const owners = owner === undefined ? [] : [owner];
const { close, reader } = createReaders(
  catalogue,
  chain,
  {},
)({
  urls: [url],
  clock: systemClock,
  log: createLog({ service: "test", level: "fatal" }),
  metrics: createRpcMetrics(createMetrics("test")),
  owners: {
    readAll: async () => owners,
    readByLatestLink: async () => owners.map((address) => ({ address, isProven: false })),
  },
});

let peakBytes = 0;
const heapTimer = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage().heapUsed);
}, 10);
const foundHashes = new Set<string>();
let reads = 0;
for (let fromBlock = Number(fromText); fromBlock <= Number(toText);) {
  // Reads in steps like the scan does. Each step continues where the last one ended.
  const toBlock = Math.min(Number(toText), fromBlock);
  const { endHeader, pointers } = await reader.readPointers({ fromBlock, toBlock });
  const times = await readBlockTimes(reader, pointers);
  const limits = { settledBlock: -1, finalizedBlock: -1 };
  for (const { transactionHash } of await findTransfers(
    { chain: { id: chainId }, reader },
    { pointers, times, limits },
  )) {
    foundHashes.add(transactionHash);
  }
  reads += 1;
  fromBlock = endHeader.number + 1;
}
clearInterval(heapTimer);
process.stdout.write(`${JSON.stringify({ foundCount: foundHashes.size, peakBytes, reads })}\n`);
close();
