import { afterEach, expect, test } from "@jest/globals";
import { serveHotAccount } from "../testing/hot-account.ts";
import { watchHeavyChain } from "../testing/watch-heavy-chain.ts";

let node: Awaited<ReturnType<typeof serveHotAccount>> | undefined;
afterEach(() => node?.close());

test("settlement-listener reads an account with 200,000 unrelated transfers within the chart's heap limit, and settles a payment that follows them", async () => {
  node = await serveHotAccount(200_001);
  const { headSlot, link, url } = node;
  const watchOptions = { chainId: "solana", link, pastBlock: headSlot };
  const { payments, transferCount } = await watchHeavyChain(url, watchOptions);
  expect(payments).toEqual([{ status: "settled", amount: "0.000001" }]);
  expect(transferCount).toBe(200_001);
}, 1_800_000);
