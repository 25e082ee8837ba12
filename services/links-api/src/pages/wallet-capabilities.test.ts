import { describe, expect, test } from "@jest/globals";

type Wallets = {
  parseCapabilities: (
    capabilities: unknown,
    chainId: string,
  ) => { isReported: boolean; canBatch: boolean };
};

const module = import.meta.resolve("@payment-links/chains/browser-wallets/evm-wallets.js");
const { parseCapabilities } = (await import(module)) as Wallets;

const legacyCapabilities = { atomicBatch: { supported: true } };

describe("parseCapabilities supports the current and the older form (rule CALLER-32):", () => {
  test.each<[unknown, boolean, boolean]>([
    [{ "0x2105": { atomic: { status: "supported" } } }, true, true],
    [{ "0x2105": { atomic: { status: "ready" } } }, true, true],
    [{ "0x0": { atomic: { status: "supported" } } }, true, true],
    [{ "0x2105": { atomic: { status: "unsupported" } } }, true, false],
    [{ "0x2105": legacyCapabilities }, true, true],
    [{ "0x02105": legacyCapabilities }, true, true],
    [{ "8453": legacyCapabilities }, true, true],
    [{ "0x0": legacyCapabilities }, true, true],
    [{ "0x2105": { atomicBatch: { supported: false } } }, true, false],
    [{ "0x2105": { atomicBatch: { supported: "true" } } }, true, false],
    // If a wallet reports both formats, the newer one takes precedence.
    [{ "0x2105": { atomic: { status: "unsupported" }, ...legacyCapabilities } }, true, false],
    [{ "0x2105": { atomic: { status: "supported" }, atomicBatch: {} } }, true, true],
    [{ "0x1": legacyCapabilities }, true, false],
    [{ "0x2105": { paymasterService: { supported: true } } }, true, false],
    [{ "0x2105": null }, true, false],
    [{}, true, false],
    [undefined, false, false],
    [null, false, false],
    [7, false, false],
    ["0x2105", false, false],
  ])("%j", (capabilities, isReported, canBatch) => {
    expect(parseCapabilities(capabilities, "8453")).toEqual({ isReported, canBatch });
  });
});
