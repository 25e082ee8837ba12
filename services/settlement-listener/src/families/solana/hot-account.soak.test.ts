import { afterEach, expect, test } from "@jest/globals";
import { serveHotAccount } from "../../testing/hot-account.ts";
import { readHeavyChain } from "../../testing/run-heavy-chain.ts";

let node: Awaited<ReturnType<typeof serveHotAccount>> | undefined;
afterEach(() => node?.close());

test("an account with 200,000 transfers of strangers is read whole within the heap of the chart", async () => {
  node = await serveHotAccount(200_000);
  const { headSlot, owner, url } = node;
  const range = { from: headSlot - 600, to: headSlot - 2 };
  const read = await readHeavyChain(url, { chainId: "solana", ...range, owner });
  process.stdout.write(`peak heap ${Math.round(read.peakBytes / 1e6)} MB, ${read.reads} reads\n`);
  expect(read.foundCount).toBe(200_000);
}, 1_800_000);
