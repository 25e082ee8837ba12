import { afterEach, expect, test } from "@jest/globals";
import { serveHotAccount } from "../testing/hot-account.ts";
import { readHeavyChain } from "../testing/run-heavy-chain.ts";

let node: Awaited<ReturnType<typeof serveHotAccount>> | undefined;
afterEach(() => node?.close());

test("the reader reads an account with 3,000 unrelated transfers completely, in parts, within the chart's heap limit", async () => {
  node = await serveHotAccount(3_000);
  const { headSlot, owner, url } = node;
  const range = { from: headSlot - 200, to: headSlot - 2 };
  const result = await readHeavyChain(url, { chainId: "solana", ...range, owner });
  expect(result.foundCount).toBe(3_000);
});
