import { describe, expect, test } from "@jest/globals";
import { type ProviderCheckResult, listProviderFaults, canStartChain } from "./provider-checks.ts";

const createCheckResults = (...checkResults: ProviderCheckResult[]) =>
  new Map(checkResults.map((checkResult, index) => [`id-${index}`, checkResult]));
const mismatch = { fault: "the node serves chain 1" };

describe("a chain starts (rule CHAIN-30)", () => {
  test.each<[string, ProviderCheckResult[], boolean]>([
    ["with one provider that agrees", ["agrees"], true],
    ["not with one that differs", [mismatch], false],
    ["not with one that does not answer", ["unknown"], false],
    ["with one of two while the other does not answer", ["agrees", "unknown"], true],
    ["not with one of two while the other differs", ["agrees", mismatch], false],
    ["with two of three while the third differs", [mismatch, "agrees", "agrees"], true],
    ["not with one of three while another differs", ["agrees", mismatch, "unknown"], false],
    ["with two of four while the others differ", ["agrees", mismatch, mismatch, "agrees"], true],
    ["not when no provider answers", ["unknown", "unknown", "unknown"], false],
  ])("%s", (_, checkResults, canStart) => {
    const quorum = Math.min(2, checkResults.length);
    expect(canStartChain(createCheckResults(...checkResults), quorum)).toBe(canStart);
  });
});

test("names a fault's provider by its position in the configuration", () => {
  expect(listProviderFaults(createCheckResults("agrees", mismatch, "unknown"))).toEqual([
    { provider: "rpc-2", fault: "the node serves chain 1" },
  ]);
});
