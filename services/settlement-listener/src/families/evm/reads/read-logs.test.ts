import { afterEach, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { ChainUnreachableError } from "../../../watch/chain-reader.ts";
import type { EvmHeader, ProxyLog } from "../evm-reads.ts";
import {
  type ReaderRig,
  startPaidChain,
  createReaderRig,
  topic0,
} from "../../../testing/create-reader-rig.ts";

const setup = useRig(() => startPaidChain([1, 0, 2, 0, 0, 1, 0, 3, 0, 0, 0, 1]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const createRig = async (
  options: Parameters<typeof createReaderRig>[1] = {},
): Promise<ReaderRig> => {
  rig = await createReaderRig(setup.chain, options);
  return rig;
};

const paidRange = () => ({ fromBlock: setup.firstBlock, toBlock: setup.lastBlock });
const listHashes = (logs: readonly ProxyLog[]) =>
  logs.map(({ transactionHash }) => transactionHash);
const listPaidHashes = () => setup.paidTransactions.map(({ hash }) => hash);

/** Reads a range as a watcher does: as far as each answer reaches, then on from there. */
const readAll = async ({ reader }: ReaderRig, headers?: readonly EvmHeader[]) => {
  const foundLogs: ProxyLog[] = [];
  const ends: number[] = [];
  for (let fromBlock = setup.firstBlock; fromBlock <= setup.lastBlock;) {
    const headerOptions = headers === undefined ? {} : { headers };
    const { logs, endHeader } = await reader.readLogs({
      fromBlock,
      toBlock: setup.lastBlock,
      ...headerOptions,
    });
    foundLogs.push(...logs);
    ends.push(endHeader.number);
    fromBlock = endHeader.number + 1;
  }
  return { logs: foundLogs, ends };
};

describe("without faults", () => {
  test("all logs of the proxies come in order, with the last block that they cover", async () => {
    const { reader } = await createRig();
    const { logs, endHeader } = await reader.readLogs(paidRange());
    expect(listHashes(logs)).toEqual(listPaidHashes());
    expect(logs.map(({ blockNumber }) => blockNumber)).toEqual(
      setup.paidTransactions.map(({ blockNumber }) => blockNumber),
    );
    const [lastHeader] = await reader.readHeaders({ ...paidRange(), fromBlock: setup.lastBlock });
    expect(lastHeader).toMatchObject(endHeader);
    expect(logs[0]?.address).toMatch(/^0x[0-9a-f]{40}$/);
  });

  test("with headers given, blooms are satisfied and nothing is asked again", async () => {
    const { reader, rpc } = await createRig();
    const headers = await reader.readHeaders(paidRange());
    await reader.readLogs({ ...paidRange(), headers });
    expect(rpc.getCounts().methods.get("eth_getLogs")).toBe(1);
  });
});

describe("logs that are left out", () => {
  test("empty logs and then full ones: the bloom shows it, and nothing is missed", async () => {
    const { countDisagreements, reader, rpc } = await createRig();
    const headers = await reader.readHeaders(paidRange());
    const activeFault = rpc.injectFault({ kind: "empty_logs" }, { times: 1 });
    const { logs } = await reader.readLogs({ ...paidRange(), headers });
    expect(activeFault.getHitCount()).toBe(1);
    expect(listHashes(logs)).toEqual(listPaidHashes());
    expect(await countDisagreements("missing_logs")).toBe(1);
    expect(await countDisagreements("unexplained_bloom")).toBe(0);
  });

  test("a provider that always leaves them out is corrected by the other one", async () => {
    const { countDisagreements, reader, rpc, rpc2 } = await createRig({ providerCount: 2 });
    const headers = await reader.readHeaders(paidRange());
    rpc.injectFault({ kind: "empty_logs" });
    const { logs } = await reader.readLogs({ ...paidRange(), headers });
    expect(listHashes(logs)).toEqual(listPaidHashes());
    expect(await countDisagreements("missing_logs")).toBe(1);
    expect(rpc2.getCounts().methods.get("eth_getLogs")).toBeGreaterThan(0);
  });

  test("where nobody has more, the bloom is held for a false one, once per block, and counted", async () => {
    const { countDisagreements, reader, rpc } = await createRig();
    const headers = await reader.readHeaders(paidRange());
    const activeFault = rpc.injectFault({ kind: "empty_logs" });
    const { logs } = await reader.readLogs({ ...paidRange(), headers });
    expect(logs).toEqual([]);
    expect(activeFault.getHitCount()).toBe(2);
    const blocks = new Set(setup.paidTransactions.map(({ blockNumber }) => blockNumber));
    expect(await countDisagreements("unexplained_bloom")).toBe(blocks.size);
  });

  test("a bloom that is false for one proxy does not double the logs of another", async () => {
    // The token has logs in these blocks, but no such event: the bloom cannot tell.
    const falseProxy = { address: setup.chain.getTokenAddress("usdc"), topic0 } as const;
    const { countDisagreements, reader } = await createRig({
      providerCount: 2,
      moreProxies: [falseProxy],
    });
    const headers = await reader.readHeaders(paidRange());
    const { logs } = await reader.readLogs({ ...paidRange(), headers });
    expect(listHashes(logs)).toEqual(listPaidHashes());
    expect(await countDisagreements("missing_logs")).toBe(0);
    expect(await countDisagreements("unexplained_bloom")).toBeGreaterThan(0);
  });

  test("on a chain that keeps no blooms, nothing is asked again", async () => {
    const { reader, rpc } = await createRig({ hasLogsBloom: false });
    const headers = await reader.readHeaders(paidRange());
    const activeFault = rpc.injectFault({ kind: "empty_logs" });
    expect((await reader.readLogs({ ...paidRange(), headers })).logs).toEqual([]);
    expect(activeFault.getHitCount()).toBe(1);
  });
});

describe("logs that come wrongly", () => {
  test("duplicate logs are told once, and counted", async () => {
    const { countDisagreements, reader, rpc } = await createRig();
    rpc.injectFault({ kind: "duplicate_logs" });
    const { logs } = await reader.readLogs(paidRange());
    expect(listHashes(logs)).toEqual(listPaidHashes());
    expect(await countDisagreements("duplicate_logs")).toBe(1);
  });

  test("logs of an event that nobody asked for are no answer, and no reason to miss one", async () => {
    const { reader, rpc } = await createRig();
    const headers = await reader.readHeaders(paidRange());
    const corrupt = (reply: unknown) =>
      JSON.stringify(reply, (key, value) => (key === "topics" ? value.toReversed() : value));
    rpc.injectFault({ kind: "hostile", corrupt });
    await expect(reader.readLogs({ ...paidRange(), headers })).rejects.toThrow(
      ChainUnreachableError,
    );
  });

  test("a node whose head is below the range's end is not believed: another one is", async () => {
    const { reader, rpc, countRequests } = await createRig({ providerCount: 2 });
    rpc.injectFault({ kind: "stale_head", blockCount: 3 });
    const { logs, endHeader } = await reader.readLogs(paidRange());
    expect(listHashes(logs)).toEqual(listPaidHashes());
    expect(endHeader.number).toBe(setup.lastBlock);
    expect(await countRequests("ok", "rpc-2")).toBeGreaterThan(0);
  });

  test("where all are behind, the range has no answer", async () => {
    const { reader, rpc } = await createRig();
    rpc.injectFault({ kind: "stale_head", blockCount: 3 });
    await expect(reader.readLogs(paidRange())).rejects.toThrow(ChainUnreachableError);
    rpc.clearFaults();
    expect(listHashes((await reader.readLogs(paidRange())).logs)).toEqual(listPaidHashes());
  });

  test.each(["garbage", "nonsense"] as const)(
    "%s is refused, and another one asked",
    async (kind) => {
      const { reader, rpc, countRequests } = await createRig({ providerCount: 2 });
      rpc.injectFault({ kind }, { methods: ["eth_getLogs"] });
      expect(listHashes((await reader.readLogs(paidRange())).logs)).toEqual(listPaidHashes());
      expect(await countRequests("invalid", "rpc-1")).toBeGreaterThan(0);
    },
  );
});

describe("two providers that disagree", () => {
  test("logs taken from a fork say so by their end's hash, and another provider tells the other chain", async () => {
    const { reader, rpc, rpc2, verifiers } = await createRig({ providerCount: 2 });
    const headers = await reader.readHeaders(paidRange());
    rpc.injectFault({ kind: "forked", fromBlock: setup.firstBlock + 2 });
    const { endHeader, logs, providerId } = await reader.readLogs({ ...paidRange(), headers });
    expect(rpc2.getCounts().requests).toBe(0);
    expect(endHeader.hash).not.toBe(headers.at(-1)?.hash);
    expect(logs.at(-1)?.blockHash).toBe(endHeader.hash);
    const otherRead = await verifiers
      .find(({ id }) => id !== providerId)
      ?.reader.readLogs({ ...paidRange(), headers });
    expect(otherRead?.endHeader.hash).toBe(headers.at(-1)?.hash);
  });

  test("a provider on a fork gives no second opinion, and no error either", async () => {
    const { countDisagreements, reader, rpc, rpc2 } = await createRig({ providerCount: 2 });
    const headers = await reader.readHeaders(paidRange());
    rpc.injectFault({ kind: "empty_logs" });
    rpc2.injectFault({ kind: "forked", fromBlock: setup.firstBlock });
    await expect(reader.readLogs({ ...paidRange(), headers })).resolves.toMatchObject({ logs: [] });
    expect(await countDisagreements("unexplained_bloom")).toBeGreaterThan(0);
  });
});

describe("ranges that are too much", () => {
  test("a range is halved until it is borne, grows back slowly, and nothing is missed", async () => {
    const readerRig = await createRig();
    const { countRequests, reader, rpc } = readerRig;
    const limit = rpc.injectFault({ kind: "range_limit", blocksMax: 2 });
    const { ends, logs } = await readAll(readerRig);
    expect(listHashes(logs)).toEqual(listPaidHashes());
    const { firstBlock } = setup;
    expect(ends.slice(0, 2)).toEqual([firstBlock, firstBlock + 2]);
    expect(limit.getHitCount()).toBe(3);
    expect(await countRequests("range")).toBe(limit.getHitCount());

    limit.stop();
    let endHeader = 0;
    for (let attempt = 0; attempt < 200 && endHeader < setup.lastBlock; attempt += 1) {
      ({ number: endHeader } = (await reader.readLogs(paidRange())).endHeader);
    }
    expect(endHeader).toBe(setup.lastBlock);
  });

  test("a provider that times out is asked for less, and the other one for all", async () => {
    const { reader, countRequests, rpc } = await createRig({
      providerCount: 2,
      timing: { timeoutMs: provokedTimeoutMs(2_000) },
    });
    rpc.injectFault({ kind: "late", delayMs: 3_600_000 }, { methods: ["eth_getLogs"], times: 1 });
    const { endHeader, logs } = await reader.readLogs(paidRange());
    expect(listHashes(logs)).toEqual(listPaidHashes());
    expect(endHeader.number).toBe(setup.lastBlock);
    expect(await countRequests("timeout", "rpc-1")).toBe(1);
    const nextRead = await reader.readLogs(paidRange());
    expect(nextRead.endHeader.number).toBe(
      setup.firstBlock + (setup.lastBlock - setup.firstBlock + 1) / 2 - 1,
    );
  });

  test("one block that is refused as too much is read by its receipts", async () => {
    const readerRig = await createRig();
    const limit = readerRig.rpc.injectFault({ kind: "range_limit", blocksMax: 0 });
    const { logs } = await readAll(readerRig);
    expect(listHashes(logs)).toEqual(listPaidHashes());
    expect(limit.getHitCount()).toBeLessThan(20);
  });

  test("one block whose receipts are not there either ends in an error, not in a loop", async () => {
    const { reader, rpc } = await createRig();
    rpc.injectFault({ kind: "no_receipts" });
    const limit = rpc.injectFault({ kind: "range_limit", blocksMax: 0 });
    await expect(reader.readLogs(paidRange())).rejects.toThrow(
      /nobody answers for logs: rpc-1 a receipt/,
    );
    expect(limit.getHitCount()).toBeLessThan(30);
  });
});
