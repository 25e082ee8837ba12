import { afterEach, expect, test } from "@jest/globals";
import { serveHeavyReceipts } from "../testing/heavy-receipts.ts";
import { readHeavyChain } from "../testing/run-heavy-chain.ts";

let node: Awaited<ReturnType<typeof serveHeavyReceipts>> | undefined;
afterEach(() => node?.close());

test("the reader reads a block with 100 MB of unrelated logs within a heap of 80 MiB", async () => {
  node = await serveHeavyReceipts({ count: 60, dataCharacters: 850_000 });
  const { blockNumber, url } = node;
  const range = { from: blockNumber, to: blockNumber };
  const result = await readHeavyChain(url, { chainId: "137", ...range, heapMib: 80 });
  expect(result.foundCount).toBe(60);
});
