import { describe, expect, test } from "@jest/globals";
import { payeesPerRequest, planDepositLogs, planFreshBlocks } from "./plan-deposit-logs.ts";

const createPayeeTopics = (count: number) =>
  Array.from({ length: count }, (_, index) => `0x${index.toString(16).padStart(64, "0")}` as const);
const busyChain = {
  payeesMax: payeesPerRequest.afterRejection,
  blockCount: 2_000,
  transfersPerBlock: 200,
};

describe("planDepositLogs", () => {
  test("lists each owner once, at most as many per request as a node accepts", () => {
    const payees = createPayeeTopics(2_500);
    const requests = planDepositLogs({ ...busyChain, payees });
    expect(requests.map(({ to }) => to?.length)).toEqual([1_000, 1_000, 500]);
    expect(requests.flatMap(({ to }) => to)).toEqual(payees);
    expect(payeesPerRequest.afterRejection).toBe(1_000);
  });

  test("requests all transfers if that takes fewer bytes", () => {
    const quietChain = { ...busyChain, blockCount: 1, transfersPerBlock: 10 };
    expect(planDepositLogs({ ...quietChain, payees: createPayeeTopics(2_500) })).toEqual([
      { to: undefined },
    ]);
  });

  test("returns no requests without owners", () => {
    expect(planDepositLogs({ ...busyChain, payees: [] })).toEqual([]);
  });
});

test("planFreshBlocks returns more new blocks per step if a request lists many owners", () => {
  const blockCounts = [0, 49, 50, 5_000, 10_000, 1_000_000].map(planFreshBlocks);
  expect(blockCounts).toEqual([100, 100, 101, 200, 300, 300]);
});
