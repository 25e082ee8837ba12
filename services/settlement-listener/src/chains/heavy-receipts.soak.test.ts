import { afterEach, expect, test } from "@jest/globals";
import { serveHeavyReceipts } from "../testing/heavy-receipts.ts";
import { watchHeavyChain } from "../testing/watch-heavy-chain.ts";

let node: Awaited<ReturnType<typeof serveHeavyReceipts>> | undefined;
afterEach(() => node?.close());

test("settlement-listener reads a block with 3 GB of unrelated logs within the chart's heap limit, and settles a payment in it", async () => {
  node = await serveHeavyReceipts({ count: 901, dataCharacters: 1_700_000 });
  const { blockNumber, link, url } = node;
  const watchOptions = { chainId: "137", link, pastBlock: blockNumber };
  const { payments, transferCount } = await watchHeavyChain(url, watchOptions);
  expect(payments).toEqual([{ status: "settled", amount: "0.000001" }]);
  expect(transferCount).toBe(901);
}, 1_800_000);
