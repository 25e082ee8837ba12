import { expect, test } from "@jest/globals";
import { chainSource, newId } from "@payment-links/contracts";
import { nothing, transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { takeLead } from "../store/watchers.ts";
import { openRig } from "../testing/open-rig.ts";
import { readEvents } from "../testing/read-rows.ts";
import { tellChainAdvance } from "./tell-chain-advance.ts";

const rig = useRig(openRig);

/** A chain that is watched, with a payment in a block. */
const openChain = async (blockNumber: number): Promise<string> => {
  const chainId = newId("evt");
  const now = rig.clock.now();
  await takeLead(rig.pool, { chainId, now, until: now });
  await rig.pool.query(nothing`
    INSERT INTO open_payments
    VALUES (${chainSource(chainId)}, 'one', 1, 'link', false, true, ${blockNumber}, now())
  `);
  return chainId;
};

const tell = (chainId: string, headBlock: number, settledTo: number) =>
  transact(rig.pool, (tx) =>
    tellChainAdvance(tx, {
      chainId,
      headBlock,
      settledTo,
      neededBlocks: null,
      at: rig.clock.now(),
    }),
  );

test("a chain is told at most once in two seconds, each chain by itself (rules EVENT-1 and EVENT-9)", async () => {
  const [one, other] = [await openChain(10), await openChain(10)];
  expect(await tell(one, 10, 5)).toBe(true);
  rig.clock.advance(1_999);
  expect(await tell(one, 11, 6)).toBe(false);
  expect(await tell(other, 11, 6)).toBe(true);
  rig.clock.advance(1);
  expect(await tell(one, 12, 7)).toBe(true);
  const heads = (await readEvents(rig.pool, one)).map(({ data }) => data.headBlock);
  expect(heads).toEqual([10, 12]);
});

test("a chain is told only while a payment waits above the line, and two providers say where that is (rule EVENT-9)", async () => {
  const chainId = await openChain(10);
  expect(await tell(chainId, 12, -1)).toBe(false);
  expect(await tell(chainId, 12, 10)).toBe(false);
  expect(await tell(chainId, 12, 9)).toBe(true);
});

test("a clock that was ahead when a chain was told does not silence it", async () => {
  const chainId = await openChain(10);
  await tell(chainId, 10, 5);
  rig.clock.setBack(60_000);
  expect(await tell(chainId, 11, 6)).toBe(true);
});
