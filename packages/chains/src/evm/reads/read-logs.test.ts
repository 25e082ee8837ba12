import { afterEach, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { ChainUnreachableError, type TransactionPointer } from "../../reads/chain-reader.ts";
import type { EvmHeader } from "./rpc-results.ts";
import {
  type ReaderRig,
  startPaidChain,
  createReaderRig,
  topic0,
} from "../../testing/create-reader-rig.ts";

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
const listHashes = (pointers: readonly TransactionPointer[]) =>
  pointers.map(({ transactionHash }) => transactionHash);
const listPaidHashes = () => setup.paidTransactions.map(({ hash }) => hash);

/** Reads a range like a watch does: each request continues where the previous response ended. */
const readAll = async ({ reader }: ReaderRig, headers?: readonly EvmHeader[]) => {
  const foundPointers: TransactionPointer[] = [];
  const ends: number[] = [];
  for (let fromBlock = setup.firstBlock; fromBlock <= setup.lastBlock;) {
    const headerOptions = headers === undefined ? {} : { headers };
    const { pointers, endHeader } = await reader.readPointers({
      fromBlock,
      toBlock: setup.lastBlock,
      ...headerOptions,
    });
    foundPointers.push(...pointers);
    ends.push(endHeader.number);
    fromBlock = endHeader.number + 1;
  }
  return { pointers: foundPointers, ends };
};

describe("without faults", () => {
  test("returns all logs of the proxies in order, with the last covered block", async () => {
    const { reader } = await createRig();
    const { pointers, endHeader } = await reader.readPointers(paidRange());
    expect(listHashes(pointers)).toEqual(listPaidHashes());
    expect(pointers.map(({ blockNumber }) => blockNumber)).toEqual(
      setup.paidTransactions.map(({ blockNumber }) => blockNumber),
    );
    const [lastHeader] = await reader.readHeaders({ ...paidRange(), fromBlock: setup.lastBlock });
    expect(lastHeader).toMatchObject(endHeader);
  });

  test("sends no further request if the logs satisfy the headers' blooms", async () => {
    const { reader, rpc } = await createRig();
    const headers = await reader.readHeaders(paidRange());
    await reader.readPointers({ ...paidRange(), headers });
    expect(rpc.getCounts().methods.get("eth_getLogs")).toBe(1);
  });
});

describe("missing logs", () => {
  test("are detected by the bloom and requested again", async () => {
    const { countDisagreements, reader, rpc } = await createRig();
    const headers = await reader.readHeaders(paidRange());
    const activeFault = rpc.injectFault({ kind: "empty_logs" }, { times: 1 });
    const { pointers } = await reader.readPointers({ ...paidRange(), headers });
    expect(activeFault.getHitCount()).toBe(1);
    expect(listHashes(pointers)).toEqual(listPaidHashes());
    expect(await countDisagreements("missing_logs")).toBe(1);
    expect(await countDisagreements("unexplained_bloom")).toBe(0);
  });

  test("are taken from another provider if one always omits them", async () => {
    const { countDisagreements, reader, rpc, rpc2 } = await createRig({ providerCount: 2 });
    const headers = await reader.readHeaders(paidRange());
    rpc.injectFault({ kind: "empty_logs" });
    const { pointers } = await reader.readPointers({ ...paidRange(), headers });
    expect(listHashes(pointers)).toEqual(listPaidHashes());
    expect(await countDisagreements("missing_logs")).toBe(1);
    expect(rpc2.getCounts().methods.get("eth_getLogs")).toBeGreaterThan(0);
  });

  test("are counted once per block as an unexplained bloom if no provider has more logs", async () => {
    const { countDisagreements, reader, rpc } = await createRig();
    const headers = await reader.readHeaders(paidRange());
    const activeFault = rpc.injectFault({ kind: "empty_logs" });
    const { pointers } = await reader.readPointers({ ...paidRange(), headers });
    expect(pointers).toEqual([]);
    expect(activeFault.getHitCount()).toBe(2);
    const blocks = new Set(setup.paidTransactions.map(({ blockNumber }) => blockNumber));
    expect(await countDisagreements("unexplained_bloom")).toBe(blocks.size);
  });

  test("do not duplicate one proxy's logs if the bloom is a false positive for another proxy", async () => {
    // The blocks contain this token and this event, but not in the same log. A bloom cannot show
    // the difference.
    const falseProxy = { address: setup.chain.getTokenAddress("usdc"), topic0 } as const;
    const { countDisagreements, reader } = await createRig({
      providerCount: 2,
      moreProxies: [falseProxy],
    });
    const headers = await reader.readHeaders(paidRange());
    const { pointers } = await reader.readPointers({ ...paidRange(), headers });
    expect(listHashes(pointers)).toEqual(listPaidHashes());
    expect(await countDisagreements("missing_logs")).toBe(0);
    expect(await countDisagreements("unexplained_bloom")).toBeGreaterThan(0);
  });

  test("are not detected on a chain without blooms, where no request is repeated", async () => {
    const { reader, rpc } = await createRig({ hasLogsBloom: false });
    const headers = await reader.readHeaders(paidRange());
    const activeFault = rpc.injectFault({ kind: "empty_logs" });
    expect((await reader.readPointers({ ...paidRange(), headers })).pointers).toEqual([]);
    expect(activeFault.getHitCount()).toBe(1);
  });
});

describe("invalid logs", () => {
  test("are returned once if they are duplicates, and counted", async () => {
    const { countDisagreements, reader, rpc } = await createRig();
    rpc.injectFault({ kind: "duplicate_logs" });
    const { pointers } = await reader.readPointers(paidRange());
    expect(listHashes(pointers)).toEqual(listPaidHashes());
    expect(await countDisagreements("duplicate_logs")).toBe(1);
  });

  test("fail the read if their event was not requested, instead of being skipped", async () => {
    const { reader, rpc } = await createRig();
    const headers = await reader.readHeaders(paidRange());
    const corrupt = (reply: unknown) =>
      JSON.stringify(reply, (key, value) => (key === "topics" ? value.toReversed() : value));
    rpc.injectFault({ kind: "hostile", corrupt });
    await expect(reader.readPointers({ ...paidRange(), headers })).rejects.toThrow(
      ChainUnreachableError,
    );
  });

  test("are replaced by another node's if the first node's head is below the end of the range", async () => {
    const { reader, rpc, countRequests } = await createRig({ providerCount: 2 });
    rpc.injectFault({ kind: "stale_head", blockCount: 3 });
    const { pointers, endHeader } = await reader.readPointers(paidRange());
    expect(listHashes(pointers)).toEqual(listPaidHashes());
    expect(endHeader.number).toBe(setup.lastBlock);
    expect(await countRequests("ok", "rpc-2")).toBeGreaterThan(0);
  });

  test("fail the read if every node's head is below the end of the range", async () => {
    const { reader, rpc } = await createRig();
    rpc.injectFault({ kind: "stale_head", blockCount: 3 });
    await expect(reader.readPointers(paidRange())).rejects.toThrow(ChainUnreachableError);
    rpc.clearFaults();
    expect(listHashes((await reader.readPointers(paidRange())).pointers)).toEqual(listPaidHashes());
  });

  test.each(["garbage", "nonsense"] as const)(
    "are replaced by another node's if the response is %s",
    async (kind) => {
      const { reader, rpc, countRequests } = await createRig({ providerCount: 2 });
      rpc.injectFault({ kind }, { methods: ["eth_getLogs"] });
      expect(listHashes((await reader.readPointers(paidRange())).pointers)).toEqual(
        listPaidHashes(),
      );
      expect(await countRequests("invalid", "rpc-1")).toBeGreaterThan(0);
    },
  );
});

describe("two providers that disagree", () => {
  test("return end headers whose hashes identify their forks", async () => {
    const { reader, rpc, rpc2, verifiers } = await createRig({ providerCount: 2 });
    const headers = await reader.readHeaders(paidRange());
    rpc.injectFault({ kind: "forked", fromBlock: setup.firstBlock + 2 });
    const { endHeader, pointers, providerId } = await reader.readPointers({
      ...paidRange(),
      headers,
    });
    expect(rpc2.getCounts().requests).toBe(0);
    expect(endHeader.hash).not.toBe(headers.at(-1)?.hash);
    expect(pointers.at(-1)?.blockHash).toBe(endHeader.hash);
    const otherRead = await verifiers
      .find(({ id }) => id !== providerId)
      ?.reader.readPointers({ ...paidRange(), headers });
    expect(otherRead?.endHeader.hash).toBe(headers.at(-1)?.hash);
  });

  test("cause no error if the second opinion comes from another fork", async () => {
    const { countDisagreements, reader, rpc, rpc2 } = await createRig({ providerCount: 2 });
    const headers = await reader.readHeaders(paidRange());
    rpc.injectFault({ kind: "empty_logs" });
    rpc2.injectFault({ kind: "forked", fromBlock: setup.firstBlock });
    await expect(reader.readPointers({ ...paidRange(), headers })).resolves.toMatchObject({
      pointers: [],
    });
    expect(await countDisagreements("unexplained_bloom")).toBeGreaterThan(0);
  });
});

describe("a range that is too large", () => {
  test("is halved until the node accepts it and grows slowly, and nothing is missed", async () => {
    const readerRig = await createRig();
    const { countRequests, reader, rpc } = readerRig;
    const limit = rpc.injectFault({ kind: "range_limit", blocksMax: 2 });
    const { ends, pointers } = await readAll(readerRig);
    expect(listHashes(pointers)).toEqual(listPaidHashes());
    const { firstBlock } = setup;
    expect(ends.slice(0, 2)).toEqual([firstBlock, firstBlock + 2]);
    expect(limit.getHitCount()).toBe(3);
    expect(await countRequests("range")).toBe(limit.getHitCount());

    limit.stop();
    let endHeader = 0;
    for (let attempt = 0; attempt < 200 && endHeader < setup.lastBlock; attempt += 1) {
      ({ number: endHeader } = (await reader.readPointers(paidRange())).endHeader);
    }
    expect(endHeader).toBe(setup.lastBlock);
  });

  test("is reduced for a provider that timed out, but not for another one", async () => {
    const { reader, countRequests, rpc } = await createRig({
      providerCount: 2,
      timing: { timeoutMs: provokedTimeoutMs(2_000) },
    });
    rpc.injectFault({ kind: "late", delayMs: 3_600_000 }, { methods: ["eth_getLogs"], times: 1 });
    const { endHeader, pointers } = await reader.readPointers(paidRange());
    expect(listHashes(pointers)).toEqual(listPaidHashes());
    expect(endHeader.number).toBe(setup.lastBlock);
    expect(await countRequests("timeout", "rpc-1")).toBe(1);
    const nextRead = await reader.readPointers(paidRange());
    expect(nextRead.endHeader.number).toBe(
      setup.firstBlock + (setup.lastBlock - setup.firstBlock + 1) / 2 - 1,
    );
  });

  test("is read by its receipts if it is a single block", async () => {
    const readerRig = await createRig();
    const limit = readerRig.rpc.injectFault({ kind: "range_limit", blocksMax: 0 });
    const { pointers } = await readAll(readerRig);
    expect(listHashes(pointers)).toEqual(listPaidHashes());
    expect(limit.getHitCount()).toBeLessThan(20);
  });

  test("fails without a loop if the receipts of its only block are missing too", async () => {
    const { reader, rpc } = await createRig();
    rpc.injectFault({ kind: "no_receipts" });
    const limit = rpc.injectFault({ kind: "range_limit", blocksMax: 0 });
    await expect(reader.readPointers(paidRange())).rejects.toThrow(
      /no provider could read logs: rpc-1: a receipt/,
    );
    expect(limit.getHitCount()).toBeLessThan(30);
  });
});
