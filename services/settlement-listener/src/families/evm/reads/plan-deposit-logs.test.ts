import { describe, expect, test } from "@jest/globals";
import { payeesPerQuestion, planDepositLogs, planFreshBlocks } from "./plan-deposit-logs.ts";

const payeesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `0x${index.toString(16).padStart(64, "0")}` as const);
const busy = {
  payeesMax: payeesPerQuestion.afterRefusal,
  blockCount: 2_000,
  transfersPerBlock: 200,
};

describe("transfers to owners are asked for", () => {
  test("by the owners' names, each in one question, no more in one than a node takes", () => {
    const payees = payeesOf(2_500);
    const questions = planDepositLogs({ ...busy, payees });
    expect(questions.map(({ to }) => to?.length)).toEqual([1_000, 1_000, 500]);
    expect(questions.flatMap(({ to }) => to)).toEqual(payees);
    expect(payeesPerQuestion.afterRefusal).toBe(1_000);
  });

  test("all together where that is less on the wire", () => {
    const few = { ...busy, blockCount: 1, transfersPerBlock: 10 };
    expect(planDepositLogs({ ...few, payees: payeesOf(2_500) })).toEqual([{ to: undefined }]);
  });

  test("not at all where there is no owner", () => {
    expect(planDepositLogs({ ...busy, payees: [] })).toEqual([]);
  });
});

test("a step reads more new blocks where a question names many owners", () => {
  const stepsOf = [0, 49, 50, 5_000, 10_000, 1_000_000].map(planFreshBlocks);
  expect(stepsOf).toEqual([100, 100, 101, 200, 300, 300]);
});
