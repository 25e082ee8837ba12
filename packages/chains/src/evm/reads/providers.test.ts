import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createFakeClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { ScriptedFault } from "../../testing/scripted-rpc.ts";
import { ChainUnreachableError } from "../../reads/chain-reader.ts";
import {
  type ReaderRig,
  startPaidChain,
  createReaderRig,
  urlKey,
} from "../../testing/create-reader-rig.ts";

const setup = useRig(() => startPaidChain([1, 0, 2]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const createRig = async (
  options: Parameters<typeof createReaderRig>[1] = {},
): Promise<ReaderRig> => {
  rig = await createReaderRig(setup.chain, options);
  return rig;
};
const paidRange = () => ({ fromBlock: setup.firstBlock, toBlock: setup.lastBlock });
const listPaidHashes = () => setup.paidTransactions.map(({ hash }) => hash);

/**
 * Reads the whole range. This takes several requests, because the reader asks a slow provider for
 * fewer blocks per request.
 */
const readPaidHashes = async ({ reader }: ReaderRig) => {
  const hashes: string[] = [];
  let { fromBlock } = paidRange();
  while (fromBlock <= setup.lastBlock) {
    const { endHeader, pointers } = await reader.readPointers({ ...paidRange(), fromBlock });
    hashes.push(...pointers.map(({ transactionHash }) => transactionHash));
    fromBlock = endHeader.number + 1;
  }
  return hashes;
};

/** Longer than any test takes. */
const longerThanTestMs = 3_600_000;

const faults: ScriptedFault[] = [
  { kind: "rate_limited" },
  { kind: "rate_limited", retryAfterSeconds: 1 },
  { kind: "late", delayMs: longerThanTestMs },
  { kind: "hanging_body" },
  { kind: "garbage" },
  { kind: "nonsense" },
  { kind: "server_error" },
  { kind: "down" },
  { kind: "wrong_chain", chainId: 1 },
];

describe.each(faults)("a provider with the fault $kind", (fault) => {
  // A short timeout could also cut off a correct response, so it is only used if there is no
  // response.
  const isLate = fault.kind === "late" || fault.kind === "hanging_body";
  const timeoutMs = isLate ? provokedTimeoutMs(1_500) : ampleTimeoutMs;

  test("is asked again after a single failure, and nothing is missed", async () => {
    const readerRig = await createRig({ timing: { timeoutMs, cooldownMsMax: 300 } });
    const activeFault = readerRig.rpc.injectFault(fault, { times: 1 });
    expect(await readPaidHashes(readerRig)).toEqual(listPaidHashes());
    expect(activeFault.getHitCount()).toBe(1);
  });

  test("is no longer asked after a few failures, while another provider answers", async () => {
    const readerRig = await createRig({
      providerCount: 2,
      timing: { timeoutMs, cooldownMsMax: 60_000, cooldownMs: 60_000 },
    });
    const activeFault = readerRig.rpc.injectFault(fault);
    for (let attempt = 0; attempt < 4; attempt += 1)
      expect(await readPaidHashes(readerRig)).toEqual(listPaidHashes());
    expect(await readerRig.readCircuitState("rpc-1")).toBe(1);
    expect(await readerRig.readCircuitState("rpc-2")).toBe(0);
    const hitCount = activeFault.getHitCount();
    expect(await readPaidHashes(readerRig)).toEqual(listPaidHashes());
    expect(activeFault.getHitCount()).toBe(hitCount);
  });

  test("makes reads fail within the time limit, without URLs in the error, until the providers recover", async () => {
    const readerRig = await createRig({ timing: { timeoutMs }, providerCount: 2 });
    for (const rpc of [readerRig.rpc, readerRig.rpc2]) rpc.injectFault(fault);
    const failingRead = readPaidHashes(readerRig);
    await expect(failingRead).rejects.toThrow(ChainUnreachableError);
    await expect(failingRead).rejects.toThrow(
      /^chain \d+: no provider could read logs: rpc-1: .*rpc-2: /,
    );
    const errorText = await failingRead.catch((error: Error) => `${error.message} ${error.stack}`);
    for (const text of [errorText, readerRig.getLogText(), await readerRig.readMetricsText()]) {
      expect(text).not.toContain(urlKey);
      expect(text).not.toContain("127.0.0.1");
    }
    readerRig.rpc.clearFaults();
    readerRig.rpc2.clearFaults();
    const hashes = await waitUntil("the providers are asked again", () =>
      readPaidHashes(readerRig).catch(() => undefined),
    );
    expect(hashes).toEqual(listPaidHashes());
  });
});

describe("a rate-limited provider", () => {
  test("is not asked during the pause it requested, and is asked again right afterwards", async () => {
    const clock = createFakeClock(new Date());
    const readerRig = await createRig({
      clock,
      providerCount: 2,
      timing: { cooldownMs: 100, cooldownMsMax: 30_000 },
    });
    readerRig.rpc.injectFault({ kind: "rate_limited", retryAfterSeconds: 7 }, { times: 1 });
    expect(await readPaidHashes(readerRig)).toEqual(listPaidHashes());
    const { requests } = readerRig.rpc.getCounts();
    clock.advance(6_999);
    expect(await readPaidHashes(readerRig)).toEqual(listPaidHashes());
    expect(readerRig.rpc.getCounts().requests).toBe(requests);
    clock.advance(1);
    expect(await readPaidHashes(readerRig)).toEqual(listPaidHashes());
    expect(readerRig.rpc.getCounts().requests).toBeGreaterThan(requests);
    expect(await readerRig.countRequests("rate_limited")).toBe(1);
  });

  test("is awaited if there is no other provider, and not asked before its pause is over", async () => {
    const readerRig = await createRig({ timing: { cooldownMsMax: 30_000 } });
    const activeFault = readerRig.rpc.injectFault(
      { kind: "rate_limited", retryAfterSeconds: 1 },
      { times: 1 },
    );
    const startedAtMs = performance.now();
    expect(await readPaidHashes(readerRig)).toEqual(listPaidHashes());
    expect(performance.now() - startedAtMs).toBeGreaterThan(950);
    expect(activeFault.getHitCount()).toBe(1);
  });

  test("answers all concurrent reads after a few rejections, without a flood of requests", async () => {
    const readerRig = await createRig();
    const storm = readerRig.rpc.injectFault({ kind: "rate_limited" }, { times: 3 });
    const results = await Promise.all(Array.from({ length: 3 }, () => readPaidHashes(readerRig)));
    expect(results).toEqual([listPaidHashes(), listPaidHashes(), listPaidHashes()]);
    expect(storm.getHitCount()).toBe(3);
    expect(readerRig.rpc.getCounts().requests).toBeLessThan(30);
  });
});

describe("the chain check of providers", () => {
  test("detects a provider that switches to another chain within a minute", async () => {
    const clock = createFakeClock(new Date());
    const readerRig = await createRig({ clock, providerCount: 2 });
    expect(await readPaidHashes(readerRig)).toEqual(listPaidHashes());
    readerRig.rpc.injectFault({ kind: "wrong_chain", chainId: 1 });
    clock.advance(60_000);
    expect(await readPaidHashes(readerRig)).toEqual(listPaidHashes());
    expect(await readerRig.countDisagreements("wrong_chain")).toBe(1);
    expect(readerRig.getLogText()).toContain("RPC provider serves a different chain");
  });

  test("is not repeated for the reads that follow it", async () => {
    const { reader, rpc } = await createRig();
    await reader.readChain();
    await Promise.all(Array.from({ length: 5 }, () => reader.readReceipts(listPaidHashes())));
    expect(rpc.getCounts().methods.get("eth_chainId")).toBe(1);
  });

  test("asks each provider separately, even during its cooldown for serving another chain", async () => {
    const { getProviderReader, rpc2, verifiers } = await createRig({ providerCount: 2 });
    rpc2.injectFault({ kind: "wrong_chain", chainId: 1 });
    const [healthyProvider, wrongProvider] = verifiers;
    await expect(wrongProvider?.reader.readHeads()).rejects.toThrow("serves another chain");
    const servedChains = [healthyProvider, wrongProvider].map((verifier) =>
      getProviderReader(verifier?.id ?? "").readChain(),
    );
    expect(await Promise.all(servedChains)).toEqual([setup.chain.chainId, "1"]);
  });

  test("excludes an ignored provider from votes and from the shared reader", async () => {
    const { ignoreProviders, reader, rpc, verifiers } = await createRig({ providerCount: 2 });
    const [ignoredProvider] = verifiers;
    ignoreProviders([ignoredProvider?.id ?? ""]);
    await expect(ignoredProvider?.reader.readHeads()).rejects.toThrow("every provider is ignored");
    await reader.readHeads();
    expect(rpc.getCounts().requests).toBe(0);
    ignoreProviders([]);
    await ignoredProvider?.reader.readHeads();
    expect(rpc.getCounts().requests).toBeGreaterThan(0);
  });
});

describe("a provider's own reader", () => {
  test("asks only that provider, even if another would answer", async () => {
    const { reader, rpc, rpc2, verifiers } = await createRig({
      providerCount: 2,
      timing: { failoverMsMax: provokedTimeoutMs(2_000) },
    });
    const countLogRequests = () =>
      [rpc, rpc2].map((proxy) => proxy.getCounts().methods.get("eth_getLogs") ?? 0);
    const { providerId } = await reader.readPointers(paidRange());
    const otherProvider = verifiers.find(({ id }) => id !== providerId);
    expect(countLogRequests()).toEqual([1, 0]);
    await otherProvider?.reader.readPointers(paidRange());
    expect(countLogRequests()).toEqual([1, 1]);
    rpc2.injectFault({ kind: "down" });
    await expect(otherProvider?.reader.readPointers(paidRange())).rejects.toThrow(
      ChainUnreachableError,
    );
    expect(countLogRequests()[0]).toBe(1);
  });

  test("identifies the provider by a hash of its URL, which does not reveal the URL", async () => {
    const { reader, rpc, getLogText } = await createRig({ providerCount: 2 });
    const { providerId } = await reader.readPointers(paidRange());
    expect(providerId).toBe(
      createHash("sha256").update(`${rpc.url}v2/${urlKey}`).digest("hex").slice(0, 16),
    );
    expect(getLogText()).not.toContain(urlKey);
  });
});

test("aborts pending requests immediately when the readers close", async () => {
  const readerRig = await createRig({
    timing: { timeoutMs: longerThanTestMs, failoverMsMax: longerThanTestMs },
  });
  const activeFault = readerRig.rpc.injectFault({ kind: "late", delayMs: longerThanTestMs });
  const pendingRead = readPaidHashes(readerRig);
  const failingRead = expect(pendingRead).rejects.toThrow(ChainUnreachableError);
  await waitUntil("the provider is asked", () => activeFault.getHitCount() > 0);
  readerRig.closeReaders();
  await failingRead;
});
