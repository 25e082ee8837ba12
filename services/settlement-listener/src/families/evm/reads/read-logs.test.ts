import { afterEach, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { ChainUnreachableError } from "../../../watch/chain-reader.ts";
import type { EvmHeader, ProxyLog } from "../evm-reads.ts";
import {
  type ReaderRig,
  openPaidChain,
  openReaderRig,
  topic0,
} from "../../../testing/open-reader-rig.ts";

const setup = useRig(() => openPaidChain([1, 0, 2, 0, 0, 1, 0, 3, 0, 0, 0, 1]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const open = async (options: Parameters<typeof openReaderRig>[1] = {}): Promise<ReaderRig> => {
  rig = await openReaderRig(setup.chain, options);
  return rig;
};

const all = () => ({ fromBlock: setup.firstBlock, toBlock: setup.lastBlock });
const hashes = (logs: readonly ProxyLog[]) => logs.map(({ transactionHash }) => transactionHash);
const paid = () => setup.paid.map(({ hash }) => hash);

/** Reads a range as a watcher does: as far as each answer reaches, then on from there. */
const readAll = async ({ reader }: ReaderRig, headers?: readonly EvmHeader[]) => {
  const found: ProxyLog[] = [];
  const ends: number[] = [];
  for (let fromBlock = setup.firstBlock; fromBlock <= setup.lastBlock;) {
    const given = headers === undefined ? {} : { headers };
    const { logs, end } = await reader.readLogs({ fromBlock, toBlock: setup.lastBlock, ...given });
    found.push(...logs);
    ends.push(end.number);
    fromBlock = end.number + 1;
  }
  return { logs: found, ends };
};

describe("without faults", () => {
  test("all logs of the proxies come in order, with the last block that they cover", async () => {
    const { reader } = await open();
    const { logs, end } = await reader.readLogs(all());
    expect(hashes(logs)).toEqual(paid());
    expect(logs.map(({ blockNumber }) => blockNumber)).toEqual(
      setup.paid.map(({ blockNumber }) => blockNumber),
    );
    const [last] = await reader.readHeaders({ ...all(), fromBlock: setup.lastBlock });
    expect(last).toMatchObject(end);
    expect(logs[0]?.address).toMatch(/^0x[0-9a-f]{40}$/);
  });

  test("with headers given, blooms are satisfied and nothing is asked again", async () => {
    const { reader, rpc } = await open();
    const headers = await reader.readHeaders(all());
    await reader.readLogs({ ...all(), headers });
    expect(rpc.counts().methods.get("eth_getLogs")).toBe(1);
  });
});

describe("logs that are left out", () => {
  test("empty logs and then full ones: the bloom shows it, and nothing is missed", async () => {
    const { disagreements, reader, rpc } = await open();
    const headers = await reader.readHeaders(all());
    const lie = rpc.play({ kind: "empty_logs" }, { times: 1 });
    const { logs } = await reader.readLogs({ ...all(), headers });
    expect(lie.struckCount()).toBe(1);
    expect(hashes(logs)).toEqual(paid());
    expect(await disagreements("missing_logs")).toBe(1);
    expect(await disagreements("unexplained_bloom")).toBe(0);
  });

  test("a provider that always leaves them out is corrected by the other one", async () => {
    const { disagreements, reader, rpc, rpc2 } = await open({ providerCount: 2 });
    const headers = await reader.readHeaders(all());
    rpc.play({ kind: "empty_logs" });
    const { logs } = await reader.readLogs({ ...all(), headers });
    expect(hashes(logs)).toEqual(paid());
    expect(await disagreements("missing_logs")).toBe(1);
    expect(rpc2.counts().methods.get("eth_getLogs")).toBeGreaterThan(0);
  });

  test("where nobody has more, the bloom is held for a false one, once per block, and counted", async () => {
    const { disagreements, reader, rpc } = await open();
    const headers = await reader.readHeaders(all());
    const lie = rpc.play({ kind: "empty_logs" });
    const { logs } = await reader.readLogs({ ...all(), headers });
    expect(logs).toEqual([]);
    expect(lie.struckCount()).toBe(2);
    const blocks = new Set(setup.paid.map(({ blockNumber }) => blockNumber));
    expect(await disagreements("unexplained_bloom")).toBe(blocks.size);
  });

  test("a bloom that is false for one proxy does not double the logs of another", async () => {
    // The token has logs in these blocks, but no such event: the bloom cannot tell.
    const falseProxy = { address: setup.chain.addressOf("usdc"), topic0 } as const;
    const { disagreements, reader } = await open({ providerCount: 2, moreProxies: [falseProxy] });
    const headers = await reader.readHeaders(all());
    const { logs } = await reader.readLogs({ ...all(), headers });
    expect(hashes(logs)).toEqual(paid());
    expect(await disagreements("missing_logs")).toBe(0);
    expect(await disagreements("unexplained_bloom")).toBeGreaterThan(0);
  });

  test("on a chain that keeps no blooms, nothing is asked again", async () => {
    const { reader, rpc } = await open({ isBloomKept: false });
    const headers = await reader.readHeaders(all());
    const lie = rpc.play({ kind: "empty_logs" });
    expect((await reader.readLogs({ ...all(), headers })).logs).toEqual([]);
    expect(lie.struckCount()).toBe(1);
  });
});

describe("logs that come wrongly", () => {
  test("duplicate logs are told once, and counted", async () => {
    const { disagreements, reader, rpc } = await open();
    rpc.play({ kind: "duplicate_logs" });
    const { logs } = await reader.readLogs(all());
    expect(hashes(logs)).toEqual(paid());
    expect(await disagreements("duplicate_logs")).toBe(1);
  });

  test("logs of an event that nobody asked for are no answer, and no reason to miss one", async () => {
    const { reader, rpc } = await open();
    const headers = await reader.readHeaders(all());
    const spoil = (reply: unknown) =>
      JSON.stringify(reply, (key, value) => (key === "topics" ? value.toReversed() : value));
    rpc.play({ kind: "hostile", spoil });
    await expect(reader.readLogs({ ...all(), headers })).rejects.toThrow(ChainUnreachableError);
  });

  test("a node whose head is below the range's end is not believed: another one is", async () => {
    const { reader, rpc, requests } = await open({ providerCount: 2 });
    rpc.play({ kind: "stale_head", blockCount: 3 });
    const { logs, end } = await reader.readLogs(all());
    expect(hashes(logs)).toEqual(paid());
    expect(end.number).toBe(setup.lastBlock);
    expect(await requests("ok", "rpc-2")).toBeGreaterThan(0);
  });

  test("where all are behind, the range has no answer", async () => {
    const { reader, rpc } = await open();
    rpc.play({ kind: "stale_head", blockCount: 3 });
    await expect(reader.readLogs(all())).rejects.toThrow(ChainUnreachableError);
    rpc.heal();
    expect(hashes((await reader.readLogs(all())).logs)).toEqual(paid());
  });

  test.each(["garbage", "nonsense"] as const)(
    "%s is refused, and another one asked",
    async (kind) => {
      const { reader, rpc, requests } = await open({ providerCount: 2 });
      rpc.play({ kind }, { methods: ["eth_getLogs"] });
      expect(hashes((await reader.readLogs(all())).logs)).toEqual(paid());
      expect(await requests("invalid", "rpc-1")).toBeGreaterThan(0);
    },
  );
});

describe("two providers that disagree", () => {
  test("logs taken from a fork say so by their end's hash, and another provider tells the other chain", async () => {
    const { reader, rpc, rpc2, witnesses } = await open({ providerCount: 2 });
    const headers = await reader.readHeaders(all());
    rpc.play({ kind: "forked", fromBlock: setup.firstBlock + 2 });
    const { end, logs, readBy } = await reader.readLogs({ ...all(), headers });
    expect(rpc2.counts().requests).toBe(0);
    expect(end.hash).not.toBe(headers.at(-1)?.hash);
    expect(logs.at(-1)?.blockHash).toBe(end.hash);
    const other = await witnesses
      .find(({ id }) => id !== readBy)
      ?.reader.readLogs({ ...all(), headers });
    expect(other?.end.hash).toBe(headers.at(-1)?.hash);
  });

  test("a provider on a fork gives no second opinion, and no error either", async () => {
    const { disagreements, reader, rpc, rpc2 } = await open({ providerCount: 2 });
    const headers = await reader.readHeaders(all());
    rpc.play({ kind: "empty_logs" });
    rpc2.play({ kind: "forked", fromBlock: setup.firstBlock });
    await expect(reader.readLogs({ ...all(), headers })).resolves.toMatchObject({ logs: [] });
    expect(await disagreements("unexplained_bloom")).toBeGreaterThan(0);
  });
});

describe("ranges that are too much", () => {
  test("a range is halved until it is borne, grows back slowly, and nothing is missed", async () => {
    const opened = await open();
    const { requests, reader, rpc } = opened;
    const limit = rpc.play({ kind: "range_limit", blocksMax: 2 });
    const { ends, logs } = await readAll(opened);
    expect(hashes(logs)).toEqual(paid());
    const { firstBlock } = setup;
    expect(ends.slice(0, 2)).toEqual([firstBlock, firstBlock + 2]);
    expect(limit.struckCount()).toBe(3);
    expect(await requests("range")).toBe(limit.struckCount());

    limit.stop();
    let end = 0;
    for (let asked = 0; asked < 200 && end < setup.lastBlock; asked += 1) {
      ({ number: end } = (await reader.readLogs(all())).end);
    }
    expect(end).toBe(setup.lastBlock);
  });

  test("a provider that times out is asked for less, and the other one for all", async () => {
    const { reader, requests, rpc } = await open({
      providerCount: 2,
      timing: { timeoutMs: provokedTimeoutMs(2_000) },
    });
    rpc.play({ kind: "late", delayMs: 3_600_000 }, { methods: ["eth_getLogs"], times: 1 });
    const { end, logs } = await reader.readLogs(all());
    expect(hashes(logs)).toEqual(paid());
    expect(end.number).toBe(setup.lastBlock);
    expect(await requests("timeout", "rpc-1")).toBe(1);
    const next = await reader.readLogs(all());
    expect(next.end.number).toBe(
      setup.firstBlock + (setup.lastBlock - setup.firstBlock + 1) / 2 - 1,
    );
  });

  test("one block that is refused as too much is read by its receipts", async () => {
    const opened = await open();
    const limit = opened.rpc.play({ kind: "range_limit", blocksMax: 0 });
    const { logs } = await readAll(opened);
    expect(hashes(logs)).toEqual(paid());
    expect(limit.struckCount()).toBeLessThan(20);
  });

  test("one block whose receipts are not there either ends in an error, not in a loop", async () => {
    const { reader, rpc } = await open();
    rpc.play({ kind: "no_receipts" });
    const limit = rpc.play({ kind: "range_limit", blocksMax: 0 });
    await expect(reader.readLogs(all())).rejects.toThrow(
      /nobody answers for logs: rpc-1 a receipt/,
    );
    expect(limit.struckCount()).toBeLessThan(30);
  });
});
