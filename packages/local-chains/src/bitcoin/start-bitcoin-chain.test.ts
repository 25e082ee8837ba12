import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { NETWORK, p2wpkh } from "@scure/btc-signer";
import { parseBitcoinAddress } from "@payment-links/chains";
import { CatalogueData, createCatalogue } from "@payment-links/contracts";
import { requireBtcd } from "../testing/require-btcd.ts";
import { type LocalBitcoinChain, startBitcoinChain } from "./start-bitcoin-chain.ts";
import { walletAddress, regtest } from "./wallet.ts";

const { program, describe } = await requireBtcd();

/** Well-known points of the curve, used as the public keys of owners. */
const points = [
  "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
  "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
].map((hex) => new Uint8Array(Buffer.from(hex, "hex")));
const [owner = "", otherOwner = ""] = points.map((point) => p2wpkh(point, regtest).address);

type Output = { value: number; scriptPubKey: { address?: string } };

describe("the local Bitcoin chain", () => {
  let chain: LocalBitcoinChain;
  beforeAll(async () => {
    chain = await startBitcoinChain({ program });
  });
  afterAll(() => chain.close());

  /** Returns the amount that a transaction pays to an address, read like the watch does. */
  const readPaidAmount = async (txid: string, address: string): Promise<number> => {
    const { vout } = (await chain.callRpc("getrawtransaction", txid, 1)) as { vout: Output[] };
    return vout
      .filter(({ scriptPubKey }) => scriptPubKey.address === address)
      .reduce((sum, { value }) => sum + value, 0);
  };

  test("holds a payment in the mempool, then confirms it with each block", async () => {
    const txid = await chain.pay({ to: owner, amount: 123_456n });
    expect(await chain.readMempool()).toContain(txid);
    expect(await chain.readConfirmations(txid)).toBe(0);
    expect(await readPaidAmount(txid, owner)).toBe(0.00123456);
    const [hash = ""] = await chain.mine();
    expect(await chain.readTransactions(hash)).toContain(txid);
    expect(await chain.readHeadHash()).toBe(hash);
    expect(await chain.readBlockHash(await chain.readHeight())).toBe(hash);
    expect(await chain.readConfirmations(txid)).toBe(1);
    await chain.mine(5);
    expect(await chain.readConfirmations(txid)).toBe(6);
    expect(await chain.readMempool()).toEqual([]);
  });

  test("restores invalidated blocks that are reconsidered", async () => {
    const head = await chain.readHeadHash();
    const lowestHash = await chain.invalidate(2);
    await chain.reconsider(lowestHash);
    expect(await chain.readHeadHash()).toBe(head);
  });

  test("finds payments by the address index, and requires the credentials in its URL", async () => {
    const indexedAddress = p2wpkh(points[1] ?? new Uint8Array(), regtest).address;
    const txid = await chain.pay({ to: otherOwner, amount: 50_000n });
    const transactions = (await chain.callRpc(
      "searchrawtransactions",
      indexedAddress,
      1,
      0,
      100,
    )) as object[];
    expect(transactions.at(-1)).toMatchObject({ txid });
    const { username, password } = new URL(chain.url);
    expect([username, password]).not.toContain("");
    const urlWithoutCredentials = new URL(chain.url);
    urlWithoutCredentials.username = "";
    urlWithoutCredentials.password = "";
    expect((await fetch(urlWithoutCredentials, { method: "POST", body: "{}" })).status).toBe(401);
    expect(p2wpkh(points[0] ?? new Uint8Array(), NETWORK).address).not.toBe(owner);
    await chain.mine();
    expect(createCatalogue(CatalogueData.parse(chain.catalogueData)).chains).toMatchObject([
      { id: "local-bitcoin", caip2: "bip122:0f9188f13cb7b2c71f2a335e3a4fc328" },
    ]);
    const parsed = parseBitcoinAddress("local-bitcoin", walletAddress);
    expect(parsed).toEqual({ address: walletAddress });
  });

  test("rejects and lacks what its README lists as differences", async () => {
    const missingMethods: Record<string, unknown[]> = {
      scantxoutset: ["start", []],
      generatetoaddress: [1, owner],
      estimatesmartfee: [2],
      getindexinfo: [],
    };
    for (const [method, params] of Object.entries(missingMethods)) {
      await expect(chain.callRpc(method, ...params)).rejects.toMatchObject({ code: -32601 });
    }
    await expect(chain.callRpc("getnetworkinfo")).rejects.toMatchObject({ code: -1 });
    await expect(chain.callRpc("getmempoolentry", "00")).rejects.toMatchObject({ code: -1 });
    const head = await chain.readHeadHash();
    const block = (await chain.callRpc("getblock", head, 2)) as Record<string, unknown>;
    expect([block["tx"], block["rawtx"]]).toEqual([undefined, expect.any(Array)]);
    const [txid = ""] = await chain.readTransactions(head);
    await expect(chain.callRpc("getrawtransaction", txid, true)).rejects.toMatchObject({
      code: -32602,
    });
    await expect(chain.callRpc("getblockhash", 1_000_000)).rejects.toMatchObject({ code: -1 });
  });

  test("continues with its blocks and coins after a restart", async () => {
    const directory = await mkdtemp(join(tmpdir(), "kept-bitcoin-"));
    const journalFile = join(directory, "blocks");
    const firstChain = await startBitcoinChain({ program, journalFile });
    const txid = await firstChain.pay({ to: owner, amount: 60_000n });
    await firstChain.mine(2);
    await firstChain.reorg(1);
    const head = await firstChain.readHeadHash();
    await firstChain.close();
    // An incomplete line, as a killed process leaves it.
    await appendFile(journalFile, "0123 4567");
    const secondChain = await startBitcoinChain({ program, journalFile });
    expect(await secondChain.readHeadHash()).toBe(head);
    expect(await secondChain.readConfirmations(txid)).toBe(3);
    const nextTxid = await secondChain.pay({ to: owner, amount: 60_000n });
    await secondChain.mine();
    expect(await secondChain.readConfirmations(nextTxid)).toBe(1);
    expect(walletAddress).toMatch(/^bcrt1p/);
    await secondChain.close();
    await rm(directory, { recursive: true, force: true });
  });
});
