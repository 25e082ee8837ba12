import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { NETWORK, p2wpkh } from "@scure/btc-signer";
import { CatalogueData, createCatalogue, readBitcoinAddress } from "@payment-links/contracts";
import { needingBtcd } from "./needing-btcd.ts";
import { type BitcoinChain, openBitcoinChain } from "./open-bitcoin-chain.ts";
import { purseAddress, regtest } from "./open-purse.ts";

const { program, describe } = await needingBtcd();

/** Well-known points of the curve, as an owner's keys are. */
const points = [
  "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
  "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
].map((hex) => new Uint8Array(Buffer.from(hex, "hex")));
const [owner = "", other = ""] = points.map((point) => p2wpkh(point, regtest).address);

type Output = { value: number; scriptPubKey: { address?: string } };

describe("the local Bitcoin", () => {
  let chain: BitcoinChain;
  beforeAll(async () => {
    chain = await openBitcoinChain({ program });
  });
  afterAll(() => chain.close());

  /** What a transaction pays an address, as a watcher reads it. */
  const paid = async (txid: string, address: string): Promise<number> => {
    const { vout } = (await chain.ask("getrawtransaction", txid, 1)) as { vout: Output[] };
    return vout
      .filter(({ scriptPubKey }) => scriptPubKey.address === address)
      .reduce((sum, { value }) => sum + value, 0);
  };

  test("a payment waits, then stands ever deeper", async () => {
    const txid = await chain.pay({ to: owner, amount: 123_456n });
    expect(await chain.mempool()).toContain(txid);
    expect(await chain.confirmationsOf(txid)).toBe(0);
    expect(await paid(txid, owner)).toBe(0.00123456);
    const [hash = ""] = await chain.mine();
    expect(await chain.transactionsOf(hash)).toContain(txid);
    expect(await chain.head()).toBe(hash);
    expect(await chain.hashAt(await chain.height())).toBe(hash);
    expect(await chain.confirmationsOf(txid)).toBe(1);
    await chain.mine(5);
    expect(await chain.confirmationsOf(txid)).toBe(6);
    expect(await chain.mempool()).toEqual([]);
  });

  test("several payments in one transaction, two of them to one address", async () => {
    const payees = [owner, other, owner].map((to) => ({ to, amount: 10_000n }));
    const txid = await chain.payTogether(payees);
    await chain.mine();
    expect(await paid(txid, owner)).toBe(0.0002);
    expect(await paid(txid, other)).toBe(0.0001);
  });

  test("a replacement takes a waiting payment's place; the first is known no more", async () => {
    const first = await chain.pay({ to: owner, amount: 20_000n });
    const second = await chain.replace(first);
    expect(await chain.mempool()).toEqual([second]);
    expect(await chain.confirmationsOf(first)).toBeUndefined();
    expect(await paid(second, owner)).toBe(0.0002);
    const third = await chain.pay({ to: owner, amount: 20_000n });
    const spent = await chain.doubleSpend(third);
    expect(await paid(spent, owner)).toBe(0);
    await chain.mine();
    expect(await chain.mempool()).toEqual([]);
    expect(await chain.confirmationsOf(third)).toBeUndefined();
    const fixed = await chain.pay({ to: owner, amount: 20_000n, isReplaceable: false });
    await expect(chain.doubleSpend(fixed)).rejects.toThrow(/already spent/);
    await chain.mine();
    expect(await chain.confirmationsOf(fixed)).toBe(1);
  });

  test("a fork puts a payment back to those that wait, and it is mined in another block", async () => {
    const txid = await chain.pay({ to: owner, amount: 30_000n });
    const [hash = ""] = await chain.mine(2);
    const height = await chain.height();
    const lowest = await chain.invalidate(2);
    expect(lowest).toBe(hash);
    expect(await chain.height()).toBe(height - 2);
    expect(await chain.mempool()).toContain(txid);
    expect(await chain.confirmationsOf(txid)).toBe(0);
    const [again = ""] = await chain.mine(3);
    expect(again).not.toBe(hash);
    expect(await chain.transactionsOf(again)).toContain(txid);
    expect(await chain.confirmationsOf(txid)).toBe(3);
    // A node of Bitcoin Core tells of such a block, with -1 confirmations.
    await expect(chain.ask("getblockheader", hash)).rejects.toMatchObject({ code: -32603 });
  });

  test("a fork can spend a payment's coins otherwise: it is gone for good", async () => {
    const txid = await chain.pay({ to: owner, amount: 40_000n });
    await chain.mine(3);
    expect(await chain.confirmationsOf(txid)).toBe(3);
    const height = await chain.height();
    await chain.reorg(3, { dropped: [txid] });
    expect(await chain.height()).toBe(height + 1);
    expect(await chain.confirmationsOf(txid)).toBeUndefined();
    expect(await chain.mempool()).toEqual([]);
  });

  test("blocks that were taken back return when they are reconsidered", async () => {
    const head = await chain.head();
    const lowest = await chain.invalidate(2);
    await chain.reconsider(lowest);
    expect(await chain.head()).toBe(head);
  });

  test("the index of addresses finds what was paid, and its address says how it is asked", async () => {
    const fresh = p2wpkh(points[1] ?? new Uint8Array(), regtest).address;
    const txid = await chain.pay({ to: other, amount: 50_000n });
    const found = (await chain.ask("searchrawtransactions", fresh, 1, 0, 100)) as object[];
    expect(found.at(-1)).toMatchObject({ txid });
    const { username, password } = new URL(chain.url);
    expect([username, password]).not.toContain("");
    const plain = new URL(chain.url);
    plain.username = "";
    plain.password = "";
    expect((await fetch(plain, { method: "POST", body: "{}" })).status).toBe(401);
    expect(p2wpkh(points[0] ?? new Uint8Array(), NETWORK).address).not.toBe(owner);
    await chain.mine();
    expect(createCatalogue(CatalogueData.parse(chain.catalogueData)).chains).toMatchObject([
      { id: "local-bitcoin", caip2: "bip122:0f9188f13cb7b2c71f2a335e3a4fc328" },
    ]);
    const read = readBitcoinAddress("local-bitcoin", purseAddress);
    expect(read).toEqual({ address: purseAddress });
  });

  test("refuses and lacks what the list of differences says", async () => {
    const missing: Record<string, unknown[]> = {
      scantxoutset: ["start", []],
      generatetoaddress: [1, owner],
      estimatesmartfee: [2],
      getindexinfo: [],
    };
    for (const [method, params] of Object.entries(missing)) {
      await expect(chain.ask(method, ...params)).rejects.toMatchObject({ code: -32601 });
    }
    await expect(chain.ask("getnetworkinfo")).rejects.toMatchObject({ code: -1 });
    await expect(chain.ask("getmempoolentry", "00")).rejects.toMatchObject({ code: -1 });
    const head = await chain.head();
    const block = (await chain.ask("getblock", head, 2)) as Record<string, unknown>;
    expect([block["tx"], block["rawtx"]]).toEqual([undefined, expect.any(Array)]);
    const [txid = ""] = await chain.transactionsOf(head);
    await expect(chain.ask("getrawtransaction", txid, true)).rejects.toMatchObject({
      code: -32602,
    });
    await expect(chain.ask("getblockhash", 1_000_000)).rejects.toMatchObject({ code: -1 });
  });

  test("goes on where it stood, with the coins that it had", async () => {
    const directory = await mkdtemp(join(tmpdir(), "kept-bitcoin-"));
    const journalFile = join(directory, "blocks");
    const first = await openBitcoinChain({ program, journalFile });
    const txid = await first.pay({ to: owner, amount: 60_000n });
    await first.mine(2);
    await first.reorg(1);
    const head = await first.head();
    await first.close();
    // A process that was killed may have written half a line.
    await appendFile(journalFile, "0123 4567");
    const second = await openBitcoinChain({ program, journalFile });
    expect(await second.head()).toBe(head);
    expect(await second.confirmationsOf(txid)).toBe(3);
    const next = await second.pay({ to: owner, amount: 60_000n });
    await second.mine();
    expect(await second.confirmationsOf(next)).toBe(1);
    expect(purseAddress).toMatch(/^bcrt1p/);
    await second.close();
    await rm(directory, { recursive: true, force: true });
  });
});
