import { afterEach, describe, expect, test } from "@jest/globals";
import { createHeldClock } from "@payment-links/runtime";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { ChainUnreachableError } from "../../../watch/chain-reader.ts";
import { type ReaderRig, openPaidChain, openReaderRig } from "../../../testing/open-reader-rig.ts";

const setup = useRig(() => openPaidChain([1, 0, 1, 1, 0, 0, 1]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const open = async (options: Parameters<typeof openReaderRig>[1] = {}): Promise<ReaderRig> => {
  rig = await openReaderRig(setup.chain, options);
  return rig;
};
const all = () => ({ fromBlock: setup.firstBlock, toBlock: setup.lastBlock });

describe("heads", () => {
  test("are the node's own, with its safe and finalized blocks", async () => {
    const { reader } = await open();
    const latest = setup.lastBlock;
    expect(await reader.readHeads()).toEqual({ latest, safe: latest - 2, finalized: latest - 4 });
  });

  test("a tag that a node does not know is null, and asked for again only after a while", async () => {
    const clock = createHeldClock(new Date());
    const { reader, rpc } = await open({ clock });
    rpc.play({ kind: "no_tags" });
    const none = { latest: setup.lastBlock, safe: null, finalized: null };
    expect(await reader.readHeads()).toEqual(none);
    rpc.heal();
    const before = rpc.counts().methods.get("eth_getBlockByNumber");
    expect(await reader.readHeads()).toEqual(none);
    expect(rpc.counts().methods.get("eth_getBlockByNumber")).toBe(before);
    clock.advance(60_000);
    expect(await reader.readHeads()).toMatchObject({ finalized: setup.lastBlock - 4 });
  });

  // Guards against depth that decides instead: what it settles is settled for good.
  test("a tag that a node told before and refuses now is no unknown one: nothing is told", async () => {
    const { reader, rpc } = await open({ timing: { askingMsMax: provokedTimeoutMs(2_000) } });
    expect(await reader.readHeads()).toMatchObject({ finalized: setup.lastBlock - 4 });
    rpc.play({ kind: "no_tags" });
    await expect(reader.readHeads()).rejects.toThrow(ChainUnreachableError);
    rpc.heal();
    expect(await reader.readHeads()).toMatchObject({ finalized: setup.lastBlock - 4 });
  });

  test("a fault on the way is no unknown tag", async () => {
    const { reader, rpc } = await open();
    rpc.play({ kind: "rate_limited" }, { times: 2 });
    expect(await reader.readHeads()).toMatchObject({ finalized: setup.lastBlock - 4 });
  });

  test("a head that goes back is not believed where another provider is ahead", async () => {
    const { disagreements, reader, rpc } = await open({ providerCount: 2 });
    await reader.readHeads();
    rpc.play({ kind: "stale_head", blockCount: 4 });
    expect(await reader.readHeads()).toMatchObject({ latest: setup.lastBlock });
    expect(await disagreements("backward_head")).toBe(1);
  });

  test("a head that goes back everywhere is told as it is", async () => {
    const { reader, rpc, rpc2 } = await open({ providerCount: 2 });
    await reader.readHeads();
    for (const each of [rpc, rpc2]) each.play({ kind: "stale_head", blockCount: 2 });
    const latest = setup.lastBlock - 2;
    expect(await reader.readHeads()).toEqual({ latest, safe: latest - 2, finalized: latest - 4 });
  });
});

describe("headers", () => {
  test("come in order, each the next one's parent, many in one request", async () => {
    const { reader, rpc, witnesses } = await open();
    const headers = await reader.readHeaders(all());
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
      readBy: witnesses[0]?.id,
    });
    // One request for the chain's id, then one for all the headers.
    expect(rpc.counts().requests).toBe(2);
  });

  test("a range behind the head is short, without an error", async () => {
    const { reader } = await open();
    const toBlock = setup.lastBlock + 5;
    expect(await reader.readHeaders({ fromBlock: setup.lastBlock, toBlock })).toHaveLength(1);
    expect(await reader.readHeaders({ fromBlock: toBlock, toBlock })).toEqual([]);
  });

  test("a node that is behind is passed over where another is not", async () => {
    const { disagreements, reader, rpc } = await open({ providerCount: 2 });
    await reader.readHeads();
    rpc.play({ kind: "stale_head", blockCount: 3 });
    expect(await reader.readHeaders(all())).toHaveLength(7);
    expect(await disagreements("short_headers")).toBe(1);
  });

  test("where all are behind what they told before, what there is is answered", async () => {
    const { reader, rpc } = await open();
    await reader.readHeads();
    rpc.play({ kind: "stale_head", blockCount: 3 });
    expect(await reader.readHeaders(all())).toHaveLength(4);
  });

  test("headers that are no chain are refused, and another provider asked", async () => {
    const { disagreements, reader, rpc, rpc2, witnesses } = await open({ providerCount: 2 });
    const good = await reader.readHeaders(all());
    rpc.play({ kind: "broken_chain" });
    const readBy = witnesses[1]?.id;
    expect(await reader.readHeaders(all())).toEqual(good.map((one) => ({ ...one, readBy })));
    expect(await disagreements("unchained_headers")).toBe(1);
    rpc2.play({ kind: "broken_chain" });
    await expect(reader.readHeaders(all())).rejects.toThrow(ChainUnreachableError);
  });

  test("more than fit in one request are asked for in several", async () => {
    const { reader, rpc } = await open();
    const headers = await reader.readHeaders({ fromBlock: 0, toBlock: setup.lastBlock });
    expect(headers).toHaveLength(setup.lastBlock + 1);
    expect(rpc.counts().calls).toBe(setup.lastBlock + 2);
  });

  test("a provider that refuses batches is asked one by one from then on", async () => {
    const { reader, rpc } = await open();
    const refusals = rpc.play({ kind: "no_batches" });
    expect(await reader.readHeaders(all())).toHaveLength(7);
    expect(await reader.readHeaders(all())).toHaveLength(7);
    expect((await reader.readLogs(all())).logs).toHaveLength(4);
    expect(refusals.struckCount()).toBe(1);
  });
});

describe("transactions", () => {
  test("receipts come by their hashes, one that is unknown is left out", async () => {
    const { reader } = await open();
    const hashes = setup.paid.map(({ hash }) => hash);
    const unknown = `0x${"1".repeat(64)}` as const;
    const receipts = await reader.readReceipts([...hashes, unknown, ...hashes]);
    expect([...receipts.keys()]).toEqual(hashes);
    for (const { hash, blockNumber } of setup.paid) {
      expect(receipts.get(hash)).toMatchObject({ blockNumber, isSuccessful: true });
      // The token's Transfer, then the proxy's event.
      expect(receipts.get(hash)?.logs).toHaveLength(2);
    }
    expect(await reader.readReceipts([])).toEqual(new Map());
  });

  test("a receipt that one provider does not know is taken from another, and counted", async () => {
    const { disagreements, reader, rpc } = await open({ providerCount: 2 });
    rpc.play({ kind: "no_receipts" });
    const hashes = setup.paid.map(({ hash }) => hash);
    expect((await reader.readReceipts(hashes)).size).toBe(4);
    expect(await disagreements("missing_receipt")).toBe(1);
    const [first] = setup.paid;
    expect((await reader.readSenders([first?.hash ?? "0x"])).size).toBe(1);
  });

  test("who sent a transaction with which nonce, and how many an address had used by a block", async () => {
    const { reader } = await open();
    const [first] = setup.paid;
    if (first === undefined) throw new Error("the chain was paid on");
    const { from } = (await reader.readReceipts([first.hash])).get(first.hash) ?? {};
    if (from === undefined) throw new Error("the receipt is there");
    const unknown = `0x${"1".repeat(64)}` as const;
    const senders = await reader.readSenders([first.hash, unknown]);
    expect([...senders.keys()]).toEqual([first.hash]);
    const { address, nonce = 0 } = senders.get(first.hash) ?? {};
    expect(address).toBe(from);
    expect(await reader.readUsedNonces(from, first.blockNumber - 1)).toBe(nonce);
    expect(await reader.readUsedNonces(from, first.blockNumber)).toBe(nonce + 1);
    await expect(reader.readUsedNonces(from, 1_000_000)).rejects.toThrow(ChainUnreachableError);
  });

  test("contracts answer all in one request: undefined where a call reverts, 0x where no code is", async () => {
    const { reader, rpc } = await open();
    const token = setup.chain.addressOf("usdc");
    await reader.readChain();
    const before = rpc.counts().requests;
    const answers = await reader.askContracts([
      { address: token, data: "0x313ce567" },
      { address: token, data: "0xdeadbeef" },
      { address: token },
      { address: `0x${"1".repeat(40)}` },
    ]);
    expect(answers).toEqual([
      `0x${"6".padStart(64, "0")}`,
      undefined,
      expect.stringMatching(/^0x[0-9a-f]{100,}$/),
      "0x",
    ]);
    expect(rpc.counts().requests - before).toBe(1);
  });
});
