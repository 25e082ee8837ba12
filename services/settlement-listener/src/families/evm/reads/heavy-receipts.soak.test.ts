import { afterEach, expect, test } from "@jest/globals";
import { serveHeavyReceipts } from "../../../testing/heavy-receipts.ts";
import { readHeavyChain } from "../../../testing/run-heavy-chain.ts";

let node: Awaited<ReturnType<typeof serveHeavyReceipts>> | undefined;
afterEach(() => node?.close());

test("a block with 3 GB of strangers' logs is read within the heap of the chart", async () => {
  node = await serveHeavyReceipts({ count: 900, dataCharacters: 1_700_000 });
  const { blockNumber, url } = node;
  const read = await readHeavyChain(url, { chainId: "137", from: blockNumber, to: blockNumber });
  process.stdout.write(`peak heap ${Math.round(read.peakBytes / 1e6)} MB\n`);
  expect(read.foundCount).toBe(900);
}, 1_800_000);
