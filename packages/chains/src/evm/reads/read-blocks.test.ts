import { afterEach, describe, expect, test } from "@jest/globals";
import { createFakeClock } from "@payment-links/runtime";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { ChainUnreachableError } from "../../reads/chain-reader.ts";
import {
  type ReaderRig,
  startPaidChain,
  createReaderRig,
} from "../../testing/create-reader-rig.ts";

const setup = useRig(() => startPaidChain([1, 0, 1, 1, 0, 0, 1]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const createRig = async (
  options: Parameters<typeof createReaderRig>[1] = {},
): Promise<ReaderRig> => {
  rig = await createReaderRig(setup.chain, options);
  return rig;
};
const paidRange = () => ({ fromBlock: setup.firstBlock, toBlock: setup.lastBlock });

describe("heads", () => {
  test("include the node's safe and finalized blocks", async () => {
    const { reader } = await createRig();
    const latest = setup.lastBlock;
    expect(await reader.readHeads()).toEqual({ latest, safe: latest - 2, finalized: latest - 4 });
  });

  test("have null for an unknown tag, which is requested again only after a minute", async () => {
    const clock = createFakeClock(new Date());
    const { reader, rpc } = await createRig({ clock });
    rpc.injectFault({ kind: "no_tags" });
    const headsWithoutTags = { latest: setup.lastBlock, safe: null, finalized: null };
    expect(await reader.readHeads()).toEqual(headsWithoutTags);
    rpc.clearFaults();
    const requestCountBefore = rpc.getCounts().methods.get("eth_getBlockByNumber");
    expect(await reader.readHeads()).toEqual(headsWithoutTags);
    expect(rpc.getCounts().methods.get("eth_getBlockByNumber")).toBe(requestCountBefore);
    clock.advance(60_000);
    expect(await reader.readHeads()).toMatchObject({ finalized: setup.lastBlock - 4 });
  });

  // Guards against falling back to depth. A settlement by depth cannot be reversed.
  test("are not returned if the node rejects a tag that it knew before", async () => {
    const { reader, rpc } = await createRig({
      timing: { failoverMsMax: provokedTimeoutMs(2_000) },
    });
    expect(await reader.readHeads()).toMatchObject({ finalized: setup.lastBlock - 4 });
    rpc.injectFault({ kind: "no_tags" });
    await expect(reader.readHeads()).rejects.toThrow(ChainUnreachableError);
    rpc.clearFaults();
    expect(await reader.readHeads()).toMatchObject({ finalized: setup.lastBlock - 4 });
  });

  test("are requested again after a temporary fault, which does not make a tag unknown", async () => {
    const { reader, rpc } = await createRig();
    rpc.injectFault({ kind: "rate_limited" }, { times: 2 });
    expect(await reader.readHeads()).toMatchObject({ finalized: setup.lastBlock - 4 });
  });

  test("do not go back if another provider is ahead", async () => {
    const { countDisagreements, reader, rpc } = await createRig({ providerCount: 2 });
    await reader.readHeads();
    rpc.injectFault({ kind: "stale_head", blockCount: 4 });
    expect(await reader.readHeads()).toMatchObject({ latest: setup.lastBlock });
    expect(await countDisagreements("backward_head")).toBe(1);
  });

  test("go back if those of all providers do", async () => {
    const { reader, rpc, rpc2 } = await createRig({ providerCount: 2 });
    await reader.readHeads();
    for (const proxy of [rpc, rpc2]) proxy.injectFault({ kind: "stale_head", blockCount: 2 });
    const latest = setup.lastBlock - 2;
    expect(await reader.readHeads()).toEqual({ latest, safe: latest - 2, finalized: latest - 4 });
  });
});

describe("headers", () => {
  test("come in order, each the parent of the next, many per request", async () => {
    const { reader, rpc, verifiers } = await createRig();
    const headers = await reader.readHeaders(paidRange());
    expect(headers.map(({ number }) => number)).toEqual(
      Array.from({ length: 7 }, (_, index) => setup.firstBlock + index),
    );
    for (const [index, { hash }] of headers.slice(0, -1).entries()) {
      expect(headers[index + 1]?.parentHash).toBe(hash);
    }
    const block = await setup.chain.client.getBlock({ blockNumber: BigInt(setup.lastBlock) });
    expect(headers.at(-1)).toEqual({
      number: setup.lastBlock,
      hash: block.hash,
      parentHash: block.parentHash,
      timestampSeconds: Number(block.timestamp),
      logsBloom: block.logsBloom,
      providerId: verifiers[0]?.id,
    });
    // There is one request for the chain id, and one for all headers.
    expect(rpc.getCounts().requests).toBe(2);
  });

  test("end early without an error if the range exceeds the head", async () => {
    const { reader } = await createRig();
    const toBlock = setup.lastBlock + 5;
    expect(await reader.readHeaders({ fromBlock: setup.lastBlock, toBlock })).toHaveLength(1);
    expect(await reader.readHeaders({ fromBlock: toBlock, toBlock })).toEqual([]);
  });

  test("come from another node if the first one lags", async () => {
    const { countDisagreements, reader, rpc } = await createRig({ providerCount: 2 });
    await reader.readHeads();
    rpc.injectFault({ kind: "stale_head", blockCount: 3 });
    expect(await reader.readHeaders(paidRange())).toHaveLength(7);
    expect(await countDisagreements("short_headers")).toBe(1);
  });

  test("end early if all nodes are behind their earlier heads", async () => {
    const { reader, rpc } = await createRig();
    await reader.readHeads();
    rpc.injectFault({ kind: "stale_head", blockCount: 3 });
    expect(await reader.readHeaders(paidRange())).toHaveLength(4);
  });

  test("are rejected if they are not connected, and another provider is asked", async () => {
    const { countDisagreements, reader, rpc, rpc2, verifiers } = await createRig({
      providerCount: 2,
    });
    const goodHeaders = await reader.readHeaders(paidRange());
    rpc.injectFault({ kind: "broken_chain" });
    const providerId = verifiers[1]?.id;
    expect(await reader.readHeaders(paidRange())).toEqual(
      goodHeaders.map((header) => ({ ...header, providerId })),
    );
    expect(await countDisagreements("unchained_headers")).toBe(1);
    rpc2.injectFault({ kind: "broken_chain" });
    await expect(reader.readHeaders(paidRange())).rejects.toThrow(ChainUnreachableError);
  });

  test("take several requests if they do not fit into one", async () => {
    const { reader, rpc } = await createRig();
    const headers = await reader.readHeaders({ fromBlock: 0, toBlock: setup.lastBlock });
    expect(headers).toHaveLength(setup.lastBlock + 1);
    expect(rpc.getCounts().calls).toBe(setup.lastBlock + 2);
  });

  test("are requested one by one once a provider has rejected a batch", async () => {
    const { reader, rpc } = await createRig();
    const batchFault = rpc.injectFault({ kind: "no_batches" });
    expect(await reader.readHeaders(paidRange())).toHaveLength(7);
    expect(await reader.readHeaders(paidRange())).toHaveLength(7);
    expect((await reader.readPointers(paidRange())).pointers).toHaveLength(4);
    expect(batchFault.getHitCount()).toBe(1);
  });
});

describe("transaction reads", () => {
  test("return receipts by hash and leave out unknown ones", async () => {
    const { reader } = await createRig();
    const hashes = setup.paidTransactions.map(({ hash }) => hash);
    const unknownHash = `0x${"1".repeat(64)}` as const;
    const receipts = await reader.readReceipts([...hashes, unknownHash, ...hashes]);
    expect([...receipts.keys()]).toEqual(hashes);
    for (const { hash, blockNumber } of setup.paidTransactions) {
      // The logs are the token's `Transfer`, followed by the proxy's event.
      const evidence = { isSuccessful: true, logs: { length: 2 } };
      expect(receipts.get(hash)).toMatchObject({ blockNumber, evidence });
    }
    expect(await reader.readReceipts([])).toEqual(new Map());
  });

  test("take a receipt unknown to one provider from another, and count the disagreement", async () => {
    const { countDisagreements, reader, rpc } = await createRig({ providerCount: 2 });
    rpc.injectFault({ kind: "no_receipts" });
    const hashes = setup.paidTransactions.map(({ hash }) => hash);
    expect((await reader.readReceipts(hashes)).size).toBe(4);
    expect(await countDisagreements("missing_receipt")).toBe(1);
    const [firstPaid] = setup.paidTransactions;
    expect((await reader.readSenders([firstPaid?.hash ?? "0x"])).size).toBe(1);
  });

  test("return a transaction's sender and nonce, and how many nonces an address had used by a block", async () => {
    const { reader } = await createRig();
    const [firstPaid] = setup.paidTransactions;
    if (firstPaid === undefined) throw new Error("no payment was made");
    const { sender } = (await reader.readReceipts([firstPaid.hash])).get(firstPaid.hash) ?? {};
    if (sender === undefined) throw new Error("the receipt is missing");
    const unknownHash = `0x${"1".repeat(64)}` as const;
    const senders = await reader.readSenders([firstPaid.hash, unknownHash]);
    expect([...senders.keys()]).toEqual([firstPaid.hash]);
    const { address, nonce = 0 } = senders.get(firstPaid.hash) ?? {};
    expect(address).toBe(sender);
    expect(await reader.readUsedNonces(sender, firstPaid.blockNumber - 1)).toBe(nonce);
    expect(await reader.readUsedNonces(sender, firstPaid.blockNumber)).toBe(nonce + 1);
    await expect(reader.readUsedNonces(sender, 1_000_000)).rejects.toThrow(ChainUnreachableError);
  });

  test("query contracts in one request: undefined for a reverted call, 0x for no code", async () => {
    const { reader, rpc } = await createRig();
    const token = setup.chain.getTokenAddress("usdc");
    await reader.readChain();
    const requestCountBefore = rpc.getCounts().requests;
    const results = await reader.queryContracts([
      { address: token, data: "0x313ce567" },
      { address: token, data: "0xdeadbeef" },
      { address: token },
      { address: `0x${"1".repeat(40)}` },
    ]);
    expect(results).toEqual([
      `0x${"6".padStart(64, "0")}`,
      undefined,
      expect.stringMatching(/^0x[0-9a-f]{100,}$/),
      "0x",
    ]);
    expect(rpc.getCounts().requests - requestCountBefore).toBe(1);
  });
});
