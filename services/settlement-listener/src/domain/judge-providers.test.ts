import { describe, expect, test } from "@jest/globals";
import { type ProviderVerdict, listFaults, mayStart } from "./judge-providers.ts";

const verdictsOf = (...verdicts: ProviderVerdict[]) =>
  new Map(verdicts.map((verdict, index) => [`id-${index}`, verdict]));
const differs = { fault: "the node serves chain 1" };

describe("a chain starts (rule CHAIN-30)", () => {
  test.each<[string, ProviderVerdict[], boolean]>([
    ["with one provider that agrees", ["agrees"], true],
    ["not with one that differs", [differs], false],
    ["not with one that does not answer", ["unknown"], false],
    ["with one of two while the other does not answer", ["agrees", "unknown"], true],
    ["not with one of two while the other differs", ["agrees", differs], false],
    ["with two of three while the third differs", [differs, "agrees", "agrees"], true],
    ["not with one of three while another differs", ["agrees", differs, "unknown"], false],
    ["with two of four while the others differ", ["agrees", differs, differs, "agrees"], true],
    ["not when nobody answers", ["unknown", "unknown", "unknown"], false],
  ])("%s", (_, verdicts, isStarted) => {
    const quorum = Math.min(2, verdicts.length);
    expect(mayStart(verdictsOf(...verdicts), quorum)).toBe(isStarted);
  });
});

test("a fault is named by its provider's place in the configuration", () => {
  expect(listFaults(verdictsOf("agrees", differs, "unknown"))).toEqual([
    { provider: "rpc-2", fault: "the node serves chain 1" },
  ]);
});
