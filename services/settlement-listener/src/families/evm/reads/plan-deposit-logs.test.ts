import { describe, expect, test } from "@jest/globals";
import { payeesPerRequest, planDepositLogs, planFreshBlocks } from "./plan-deposit-logs.ts";

const createPayeeTopics = (count: number) =>
  Array.from({ length: count }, (_, index) => `0x${index.toString(16).padStart(64, "0")}` as const);
const busyChain = {
  payeesMax: payeesPerRequest.afterRejection,
  blockCount: 2_000,
  transfersPerBlock: 200,
};

describe("transfers to owners are asked for", () => {
  test("by the owners' names, each in one question, no more in one than a node takes", () => {
    const payees = createPayeeTopics(2_500);
    const requests = planDepositLogs({ ...busyChain, payees });
    expect(requests.map(({ to }) => to?.length)).toEqual([1_000, 1_000, 500]);
    expect(requests.flatMap(({ to }) => to)).toEqual(payees);
    expect(payeesPerRequest.afterRejection).toBe(1_000);
  });

  test("all together where that is less on the wire", () => {
    const quietChain = { ...busyChain, blockCount: 1, transfersPerBlock: 10 };
    expect(planDepositLogs({ ...quietChain, payees: createPayeeTopics(2_500) })).toEqual([
      { to: undefined },
    ]);
  });

  test("not at all where there is no owner", () => {
    expect(planDepositLogs({ ...busyChain, payees: [] })).toEqual([]);
  });
});

test("a step reads more new blocks where a question names many owners", () => {
  const blockCounts = [0, 49, 50, 5_000, 10_000, 1_000_000].map(planFreshBlocks);
  expect(blockCounts).toEqual([100, 100, 101, 200, 300, 300]);
});
