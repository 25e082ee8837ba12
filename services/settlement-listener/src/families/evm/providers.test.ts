import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createHeldClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { ampleTimeoutMs, provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { RpcFaultScript } from "../../testing/scripted-rpc.ts";
import { ChainUnreachableError } from "../../watch/chain-reader.ts";
import {
  type ReaderRig,
  openPaidChain,
  openReaderRig,
  urlKey,
} from "../../testing/open-reader-rig.ts";

const setup = useRig(() => openPaidChain([1, 0, 2]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const open = async (options: Parameters<typeof openReaderRig>[1] = {}): Promise<ReaderRig> => {
  rig = await openReaderRig(setup.chain, options);
  return rig;
};
const all = () => ({ fromBlock: setup.firstBlock, toBlock: setup.lastBlock });
const paid = () => setup.paid.map(({ hash }) => hash);

/** To the end of the range: a provider that is slow to answer is asked for less at once. */
const readPaid = async ({ reader }: ReaderRig) => {
  const hashes: string[] = [];
  let { fromBlock } = all();
  while (fromBlock <= setup.lastBlock) {
    const { end, logs } = await reader.readLogs({ ...all(), fromBlock });
    hashes.push(...logs.map(({ transactionHash }) => transactionHash));
    fromBlock = end.number + 1;
  }
  return hashes;
};

/** Longer than any test lasts. */
const never = 3_600_000;

const faults: RpcFaultScript[] = [
  { kind: "rate_limited" },
  { kind: "rate_limited", retryAfterSeconds: 1 },
  { kind: "late", delayMs: never },
  { kind: "hanging_body" },
  { kind: "garbage" },
  { kind: "nonsense" },
  { kind: "server_error" },
  { kind: "down" },
  { kind: "wrong_chain", chainId: 1 },
];

describe.each(faults)("a provider with the fault $kind", (fault) => {
  // Only where the answer never comes may a good one be taken for late, so it has much time.
  const isLate = fault.kind === "late" || fault.kind === "hanging_body";
  const timeoutMs = isLate ? provokedTimeoutMs(1_500) : ampleTimeoutMs;

  test("once only: the same provider is asked again, and nothing is missed", async () => {
    const opened = await open({ timing: { timeoutMs, restMsMax: 300 } });
    const playing = opened.rpc.play(fault, { times: 1 });
    expect(await readPaid(opened)).toEqual(paid());
    expect(playing.struckCount()).toBe(1);
  });

  test("all the time: another one answers, and after a few failures it alone is asked", async () => {
    const opened = await open({
      providerCount: 2,
      timing: { timeoutMs, restMsMax: 60_000, restMs: 60_000 },
    });
    const playing = opened.rpc.play(fault);
    for (let asked = 0; asked < 4; asked += 1) expect(await readPaid(opened)).toEqual(paid());
    expect(await opened.circuit("rpc-1")).toBe(1);
    expect(await opened.circuit("rpc-2")).toBe(0);
    const struck = playing.struckCount();
    expect(await readPaid(opened)).toEqual(paid());
    expect(playing.struckCount()).toBe(struck);
  });

  test("everywhere: an error within a bound, which names no address; healed, it goes on", async () => {
    const opened = await open({ timing: { timeoutMs }, providerCount: 2 });
    for (const rpc of [opened.rpc, opened.rpc2]) rpc.play(fault);
    const failing = readPaid(opened);
    await expect(failing).rejects.toThrow(ChainUnreachableError);
    await expect(failing).rejects.toThrow(/^chain \d+: nobody answers for logs: rpc-1 .*rpc-2 /);
    const told = await failing.catch((error: Error) => `${error.message} ${error.stack}`);
    for (const text of [told, opened.logText(), await opened.metricsText()]) {
      expect(text).not.toContain(urlKey);
      expect(text).not.toContain("127.0.0.1");
    }
    opened.rpc.heal();
    opened.rpc2.heal();
    const found = await waitUntil("the providers are asked again", () =>
      readPaid(opened).catch(() => undefined),
    );
    expect(found).toEqual(paid());
  });
});

describe("a provider that is asked too often", () => {
  test("is left alone as long as it asked for, and not longer than the bound", async () => {
    const clock = createHeldClock(new Date());
    const opened = await open({
      clock,
      providerCount: 2,
      timing: { restMs: 100, restMsMax: 30_000 },
    });
    opened.rpc.play({ kind: "rate_limited", retryAfterSeconds: 7 }, { times: 1 });
    expect(await readPaid(opened)).toEqual(paid());
    const { requests } = opened.rpc.counts();
    clock.advance(6_999);
    expect(await readPaid(opened)).toEqual(paid());
    expect(opened.rpc.counts().requests).toBe(requests);
    clock.advance(1);
    expect(await readPaid(opened)).toEqual(paid());
    expect(opened.rpc.counts().requests).toBeGreaterThan(requests);
    expect(await opened.requests("rate_limited")).toBe(1);
  });

  test("is waited for where there is no other, and asked once more, not in vain before", async () => {
    const opened = await open({ timing: { restMsMax: 30_000 } });
    const playing = opened.rpc.play({ kind: "rate_limited", retryAfterSeconds: 1 }, { times: 1 });
    const began = performance.now();
    expect(await readPaid(opened)).toEqual(paid());
    expect(performance.now() - began).toBeGreaterThan(950);
    expect(playing.struckCount()).toBe(1);
  });

  test("a storm ends: all asked at once get their answer, and the storm is not fed", async () => {
    const opened = await open();
    const storm = opened.rpc.play({ kind: "rate_limited" }, { times: 3 });
    const answers = await Promise.all(Array.from({ length: 3 }, () => readPaid(opened)));
    expect(answers).toEqual([paid(), paid(), paid()]);
    expect(storm.struckCount()).toBe(3);
    expect(opened.rpc.counts().requests).toBeLessThan(30);
  });
});

describe("the chain behind an address", () => {
  test("a provider that changes to another chain is found out within a minute", async () => {
    const clock = createHeldClock(new Date());
    const opened = await open({ clock, providerCount: 2 });
    expect(await readPaid(opened)).toEqual(paid());
    opened.rpc.play({ kind: "wrong_chain", chainId: 1 });
    clock.advance(60_000);
    expect(await readPaid(opened)).toEqual(paid());
    expect(await opened.disagreements("wrong_chain")).toBe(1);
    expect(opened.logText()).toContain("an RPC provider serves another chain");
  });

  test("is not asked for again by questions that follow it, as in the check of a chain", async () => {
    const { reader, rpc } = await open();
    await reader.readChain();
    await Promise.all(Array.from({ length: 5 }, () => reader.readReceipts(paid())));
    expect(rpc.counts().methods.get("eth_chainId")).toBe(1);
  });

  test("each provider is asked for the chain id alone, even while it rests for serving another one", async () => {
    const { readerOf, rpc2, witnesses } = await open({ providerCount: 2 });
    rpc2.play({ kind: "wrong_chain", chainId: 1 });
    const [right, wrong] = witnesses;
    await expect(wrong?.reader.readHeads()).rejects.toThrow("serves another chain");
    const chains = [right, wrong].map((witness) => readerOf(witness?.id ?? "").readChain());
    expect(await Promise.all(chains)).toEqual([setup.chain.chainId, "1"]);
  });

  test("a provider that is ignored has no vote and is not asked by the common reader", async () => {
    const { ignore, reader, rpc, witnesses } = await open({ providerCount: 2 });
    const [first] = witnesses;
    ignore([first?.id ?? ""]);
    await expect(first?.reader.readHeads()).rejects.toThrow("every provider is ignored");
    await reader.readHeads();
    expect(rpc.counts().requests).toBe(0);
    ignore([]);
    await first?.reader.readHeads();
    expect(rpc.counts().requests).toBeGreaterThan(0);
  });
});

describe("a provider's own reader", () => {
  test("asks that one alone, also while another would answer", async () => {
    const { reader, rpc, rpc2, witnesses } = await open({
      providerCount: 2,
      timing: { askingMsMax: provokedTimeoutMs(2_000) },
    });
    const logRequests = () =>
      [rpc, rpc2].map((each) => each.counts().methods.get("eth_getLogs") ?? 0);
    const { readBy } = await reader.readLogs(all());
    const other = witnesses.find(({ id }) => id !== readBy);
    expect(logRequests()).toEqual([1, 0]);
    await other?.reader.readLogs(all());
    expect(logRequests()).toEqual([1, 1]);
    rpc2.play({ kind: "down" });
    await expect(other?.reader.readLogs(all())).rejects.toThrow(ChainUnreachableError);
    expect(logRequests()[0]).toBe(1);
  });

  test("knows providers by their addresses, in whatever order, and reveals none", async () => {
    const { reader, rpc, logText } = await open({ providerCount: 2 });
    const { readBy } = await reader.readLogs(all());
    expect(readBy).toBe(
      createHash("sha256").update(`${rpc.url}v2/${urlKey}`).digest("hex").slice(0, 16),
    );
    expect(logText()).not.toContain(urlKey);
  });
});

test("closing ends what waits for an answer at once", async () => {
  const opened = await open({ timing: { timeoutMs: never, askingMsMax: never } });
  const playing = opened.rpc.play({ kind: "late", delayMs: never });
  const asking = readPaid(opened);
  const failing = expect(asking).rejects.toThrow(ChainUnreachableError);
  await waitUntil("the provider is asked", () => playing.struckCount() > 0);
  opened.closeReaders();
  await failing;
});
