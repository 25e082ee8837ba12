import { expect, test } from "@jest/globals";
import { getChainSource } from "@payment-links/chains";
import { newId } from "@payment-links/contracts";
import { sqlVoid, transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { acquireLeadership } from "../store/watchers.ts";
import { createRig } from "../testing/create-rig.ts";
import { readEvents } from "../testing/read-rows.ts";
import { publishChainAdvance } from "./publish-chain-advance.ts";

const rig = useRig(createRig);

/** Creates a watched chain that has a payment in the given block. */
const createWatchedChain = async (blockNumber: number): Promise<string> => {
  const chainId = newId("evt");
  const now = rig.clock.now();
  await acquireLeadership(rig.pool, { chainId, now, until: now });
  await rig.pool.query(sqlVoid`
    INSERT INTO open_payments
    VALUES (${getChainSource(chainId)}, 'one', 1, 'link', false, true, ${blockNumber}, now())
  `);
  return chainId;
};

const publishAdvance = (chainId: string, headBlock: number, settledTo: number) =>
  transact(rig.pool, (tx) =>
    publishChainAdvance(tx, {
      chainId,
      headBlock,
      settledTo,
      neededBlocks: null,
      at: rig.clock.now(),
    }),
  );

test("publishes each chain's progress at most once in two seconds (rules EVENT-1 and EVENT-9)", async () => {
  const [firstChain, otherChain] = [await createWatchedChain(10), await createWatchedChain(10)];
  expect(await publishAdvance(firstChain, 10, 5)).toBe(true);
  rig.clock.advance(1_999);
  expect(await publishAdvance(firstChain, 11, 6)).toBe(false);
  expect(await publishAdvance(otherChain, 11, 6)).toBe(true);
  rig.clock.advance(1);
  expect(await publishAdvance(firstChain, 12, 7)).toBe(true);
  const heads = (await readEvents(rig.pool, firstChain)).map(({ data }) => data.headBlock);
  expect(heads).toEqual([10, 12]);
});

test("publishes progress only while a payment waits above the settled block, and two providers agree on that block (rule EVENT-9)", async () => {
  const chainId = await createWatchedChain(10);
  expect(await publishAdvance(chainId, 12, -1)).toBe(false);
  expect(await publishAdvance(chainId, 12, 10)).toBe(false);
  expect(await publishAdvance(chainId, 12, 9)).toBe(true);
});

test("publishes again after a clock that was ahead published last", async () => {
  const chainId = await createWatchedChain(10);
  await publishAdvance(chainId, 10, 5);
  rig.clock.setBack(60_000);
  expect(await publishAdvance(chainId, 11, 6)).toBe(true);
});
