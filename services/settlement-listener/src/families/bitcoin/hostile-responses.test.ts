import { beforeEach, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createCatalogue } from "@payment-links/contracts";
import { createLog, createMetrics, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import { requireBtcd } from "../../testing/bitcoin/require-btcd.ts";
import { startBitcoinChain } from "../../testing/bitcoin/start-bitcoin-chain.ts";
import {
  type NodeProxy,
  type Misreport,
  startNodeProxy,
} from "../../testing/bitcoin/start-node-proxy.ts";
import { walletAddress, signPayment } from "../../testing/bitcoin/wallet.ts";
import { hostileResponse } from "../../testing/hostile-responses.ts";
import { freshBitcoinAddress } from "../../testing/bitcoin/fresh-address.ts";
import { RpcError } from "../../testing/serve-json-rpc.ts";
import { ChainUnreachableError } from "../../watch/chain-reader.ts";
import { toBitcoinChain } from "./bitcoin-chain.ts";
import { bitcoinDialect } from "./bitcoin-family.ts";
import { type BitcoinReader, createBitcoinReader } from "./bitcoin-reader.ts";
import { bitcoinSettings } from "./bitcoin-settings.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { createPayees } from "./payees.ts";
import { getPropertyRunOptions } from "@payment-links/contracts/testing/property-runs";

const { describe, program } = await requireBtcd();

describe("a node of Bitcoin", () => {
  const chain = useRig(() => startBitcoinChain({ program }));
  const closeAfterTest = closeAfterEach();
  let proxy: NodeProxy;
  let owner: string;
  beforeEach(async () => {
    owner = freshBitcoinAddress();
    proxy = closeAfterTest(await startNodeProxy(chain));
  });

  const createReaders = (
    urls: readonly string[] = [proxy.url],
    clock = systemClock,
    failoverMsMax = 60_000,
  ) => {
    const catalogue = createCatalogue(chain.catalogueData);
    const [localChain] = catalogue.chains;
    if (localChain === undefined) throw new Error("the catalogue has no chain");
    const bitcoinChain = toBitcoinChain(catalogue, localChain);
    const owners = { readAll: async () => [owner] };
    const settings = bitcoinSettings(localChain.id);
    const readers = createChainReaders(
      {
        chainId: localChain.id,
        urls,
        dialect: bitcoinDialect(bitcoinChain),
        rangeBlocksMax: 10,
        clock,
        log: createLog({ service: "test", level: "fatal" }),
        metrics: createRpcMetrics(createMetrics("test")),
        timing: { timeoutMs: 60_000, cooldownMs: 20, cooldownMsMax: 100, failoverMsMax },
      },
      (readerContext) =>
        createBitcoinReader(
          readerContext,
          bitcoinChain,
          createPayees(owners, bitcoinChain.id),
          settings,
        ),
    );
    return {
      ...closeAfterTest(readers),
      findFault: () => findChainFault(bitcoinChain, readers.reader),
    };
  };

  const payOwner = async () => {
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    const [blockHash = ""] = await chain.mine();
    const number = await chain.readHeight();
    return { txid, blockHash, range: { fromBlock: number, toBlock: number } };
  };

  /** Who sent the one payment that waits to be mined. */
  const readUnconfirmedSender = async (reader: BitcoinReader): Promise<string> => {
    const [unconfirmed] = (await reader.readMempool?.())?.transactions ?? [];
    return unconfirmed?.sender.address ?? "";
  };

  const misreportMethod =
    (
      targetMethod: string,
      transform: (result: never, params: readonly unknown[]) => unknown,
    ): Misreport =>
    (method, params, result) =>
      method === targetMethod ? transform(result as never, params) : result;

  test("that is honest shows a payment, whose it is, and what it spends", async () => {
    const { reader } = createReaders();
    const { blockHash, range, txid } = await payOwner();
    const { endHeader, pointers } = await reader.readPointers(range);
    expect(endHeader).toMatchObject({ number: range.toBlock, hash: blockHash });
    expect(pointers).toMatchObject([{ transactionHash: txid, blockHash }]);
    const receipt = (await reader.readReceipts([txid])).get(txid);
    expect(receipt).toMatchObject({ blockHash, blockNumber: range.toBlock });
    expect(receipt?.transfers).toMatchObject([{ destinationAddress: owner, tokenAddress: "BTC" }]);
    expect(receipt?.transfers[0]?.amount.toFixed()).toBe("0.00005");
    const sender = (await reader.readSenders([txid])).get(txid);
    expect(sender).toEqual({ address: receipt?.sender, nonce: 0 });
    expect(await reader.readUsedNonces(sender?.address ?? "", range.toBlock - 1)).toBe(0);
    expect(await reader.readUsedNonces(sender?.address ?? "", range.toBlock)).toBe(1);
  });

  /** One transaction that spends so many small outputs, in the newest block; answers them. */
  const spendDust = async (count: number): Promise<string[]> => {
    const outputs = Array.from({ length: count }, () => ({ to: walletAddress, amount: 20_000n }));
    const txid = await chain.payInOneTransaction(outputs);
    const coins = outputs.map(({ amount }, index) => ({ txid, index, amount }));
    const payees = [{ to: freshBitcoinAddress(), amount: 10_000n }];
    await chain.callRpc("sendrawtransaction", signPayment({ coins, payees, feeRate: 2 }).hex);
    await chain.mine();
    return coins.map(({ index }) => `${txid}:${index}`);
  };

  // Guards against a payer who has one block of megabytes read for each of a hundred small payments.
  test("is asked once for a block in which many looked-for outputs were spent at once", async () => {
    const { reader } = createReaders();
    const senders = await spendDust(50);
    const requestedHashes: unknown[] = [];
    proxy.misreport((method, [hash], result) => {
      if (method === "getblock") requestedHashes.push(hash);
      return result;
    });
    const height = await chain.readHeight();
    const usedNonces = await Promise.all(
      senders.map((senderAddress) => reader.readUsedNonces(senderAddress, height)),
    );
    expect(new Set(usedNonces)).toEqual(new Set([1]));
    expect(requestedHashes).toEqual([await chain.readHeadHash()]);
  });

  test("is asked again for a block that it did not give", async () => {
    const { reader } = createReaders();
    const [sender = ""] = await spendDust(1);
    let rejectionCount = 0;
    proxy.misreport((method, _params, result) => {
      if (method !== "getblock" || rejectionCount > 0) return result;
      rejectionCount += 1;
      throw new RpcError(-1, "Block not available");
    });
    expect(await reader.readUsedNonces(sender, await chain.readHeight())).toBe(1);
    expect(rejectionCount).toBe(1);
  });

  const changeLastDigit = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith("0") ? "1" : "0"}`;

  test.each([
    ["a block with another byte", misreportMethod("getblock", changeLastDigit)],
    [
      "a block that ends early",
      misreportMethod("getblock", (result: string) => result.slice(0, -2)),
    ],
    [
      "a block without its last transaction",
      misreportMethod("getblock", (result: string) => result.slice(0, 300)),
    ],
    ["a block as JSON", misreportMethod("getblock", () => ({ hash: "00" }))],
    [
      "another block",
      misreportMethod("getblock", async () =>
        chain.callRpc("getblock", await chain.readBlockHash(1), 0),
      ),
    ],
    ["no block", misreportMethod("getblock", () => null)],
    ["another hash afterwards", misreportMethod("getblockhash", () => "00".repeat(32))],
    ["a header of another block", misreportMethod("getblockheader", () => "00".repeat(80))],
  ])("that tells %s is not believed", async (_, misreport) => {
    const { reader } = createReaders();
    const { range } = await payOwner();
    expect((await reader.readPointers(range)).pointers).toHaveLength(1);
    proxy.misreport(misreport);
    await expect(reader.readPointers(range)).rejects.toThrow(ChainUnreachableError);
  });

  test.each([
    [
      "a transaction with another amount",
      misreportMethod("getrawtransaction", (result: { hex: string }) => ({
        ...result,
        hex: result.hex.replace("8813000000000000", "8913000000000000"),
      })),
    ],
    ["a transaction without its bytes", misreportMethod("getrawtransaction", () => ({}))],
    [
      "a block that is no hash",
      misreportMethod("getrawtransaction", (result: object) => ({ ...result, blockhash: "7" })),
    ],
    [
      "a place without a height",
      misreportMethod("getblockheader", (result: object) => ({ ...result, height: null })),
    ],
    [
      "a time after the last one that there is",
      misreportMethod("getblockheader", (result: object) => ({ ...result, time: 1e15 })),
    ],
    [
      "the place of another block",
      misreportMethod("getblockheader", (result: object) => ({ ...result, hash: "00".repeat(32) })),
    ],
  ])("that tells %s is not believed", async (_, misreport) => {
    const { reader } = createReaders();
    const { txid } = await payOwner();
    expect((await reader.readReceipts([txid])).size).toBe(1);
    proxy.misreport(misreport);
    await expect(reader.readReceipts([txid])).rejects.toThrow(ChainUnreachableError);
  });

  test("that says of a block what Bitcoin Core says of one that lost shows no receipt", async () => {
    const { reader } = createReaders();
    const { txid } = await payOwner();
    proxy.misreport(
      misreportMethod("getblockheader", (result: object) => ({ ...result, confirmations: -1 })),
    );
    expect((await reader.readReceipts([txid])).size).toBe(0);
  });

  test("that does not know a transaction says nothing of it: another is asked", async () => {
    const { txid } = await payOwner();
    const { reader } = createReaders([proxy.url, chain.url]);
    proxy.misreport(
      misreportMethod("getrawtransaction", () => {
        throw new RpcError(-5, "No such mempool or blockchain transaction");
      }),
    );
    expect((await reader.readReceipts([txid])).get(txid)?.transfers).toHaveLength(1);
  });

  test("that is behind says nothing of a range, and another is asked", async () => {
    const { range, txid } = await payOwner();
    const { reader } = createReaders([proxy.url, chain.url]);
    proxy.misreport(
      misreportMethod("getblockhash", (result, [number]) => {
        if (Number(number) < range.toBlock) return result;
        throw new RpcError(-8, "Block height out of range");
      }),
    );
    const { pointers } = await reader.readPointers(range);
    expect(pointers).toMatchObject([{ transactionHash: txid }]);
  });

  test("that keeps no index of transactions, or serves another chain, is refused in words", async () => {
    const { findFault } = createReaders([proxy.url]);
    expect(await findFault()).toBeUndefined();
    proxy.misreport(
      misreportMethod("getrawtransaction", () => {
        throw new RpcError(-5, "No such mempool transaction. Use -txindex");
      }),
    );
    expect(await findFault()).toBe("the node keeps no index of transactions (txindex=1)");
    proxy.misreport(misreportMethod("getblockhash", () => "ab".repeat(32)));
    expect(await findFault()).toBe(`the node serves the chain of genesis ${"ab".repeat(16)}`);
  });

  test("with very many waiting transactions is asked for a part of them at a time, and for each once", async () => {
    const fakeTxids = Array.from({ length: 2_500 }, (_, index) =>
      index.toString(16).padStart(64, "0"),
    );
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    proxy.hideTransactions(fakeTxids);
    proxy.misreport(
      misreportMethod("getrawmempool", (result: string[]) => [...fakeTxids, ...result]),
    );
    const { reader } = createReaders([proxy.url], { ...systemClock, elapsedMs: () => 1 });
    const firstRead = await reader.readMempool?.();
    expect(firstRead).toEqual({ transactions: [], unreadCount: 501 });
    const secondRead = await reader.readMempool?.();
    expect(secondRead).toMatchObject({ transactions: [{ transactionHash: txid }], unreadCount: 0 });
    // A list of so many is not asked for again at once.
    expect(await reader.readMempool?.()).toEqual(secondRead);
    expect(proxy.getRequestCount("getrawmempool")).toBe(1);
    // One more is the payment again, as a block may hold it, and one is what it spends.
    expect(proxy.getRequestCount("getrawtransaction")).toBe(2_503);
    await chain.mine();
  });

  // Nodes drop what pays little, and an index may lag: neither says that a payment cannot be mined any more.
  test("that knows a payment and what it spends no more does not say that it is lost, as its ancestors spent their own", async () => {
    const { reader } = createReaders();
    const firstTxid = await chain.pay({ to: freshBitcoinAddress(), amount: 5_000n });
    const parentTxid = await chain.payFromChange(firstTxid, {
      to: freshBitcoinAddress(),
      amount: 5_000n,
    });
    await chain.mine();
    const txid = await chain.payFromChange(parentTxid, { to: owner, amount: 5_000n });
    const address = await readUnconfirmedSender(reader);
    expect(address.split(";")).toEqual([
      expect.stringContaining(parentTxid),
      expect.stringContaining(`${parentTxid}=${firstTxid}:`),
      expect.stringContaining(`${firstTxid}=`),
    ]);
    const height = await chain.readHeight();
    expect(await reader.readUsedNonces(address, height)).toBe(0);
    proxy.hideTransactions([txid, parentTxid, firstTxid]);
    expect(await reader.readUsedNonces(address, height)).toBe(0);
    // What it spends itself is another matter.
    await chain.doubleSpend(txid);
    await chain.mine();
    expect(await reader.readUsedNonces(address, height)).toBe(0);
    expect(await reader.readUsedNonces(address, height + 1)).toBe(1);
  });

  test("says each time that what a payment spends was spent elsewhere, however many blocks came since", async () => {
    const { reader } = createReaders();
    await chain.mine(30);
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    const address = await readUnconfirmedSender(reader);
    const height = await chain.readHeight();
    expect(await reader.readUsedNonces(address, height)).toBe(0);
    await chain.doubleSpend(txid);
    await chain.mine();
    expect(await reader.readUsedNonces(address, height + 1)).toBe(1);
    await chain.mine(70);
    for (const laterHeight of [height + 1, height + 30, height + 31, height + 70]) {
      expect([laterHeight, await reader.readUsedNonces(address, laterHeight)]).toEqual([
        laterHeight,
        1,
      ]);
    }
  });

  test("finds where it was spent also after it was not asked for many blocks", async () => {
    const { reader } = createReaders();
    await chain.mine(30);
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    const address = await readUnconfirmedSender(reader);
    const height = await chain.readHeight();
    await chain.doubleSpend(txid);
    await chain.mine(60);
    // Blocks are looked through from the newest one on, a third of these at a turn.
    const usedNonces = [];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      usedNonces.push(await reader.readUsedNonces(address, height + 60));
    }
    expect(usedNonces).toEqual([0, 0, 1, 1, 1]);
  });

  /** One that is forgotten is not shown, and once the node knows it again, it is. */
  const expectShownOnceKnown = async (reader: BitcoinReader, txid: string) => {
    proxy.hideTransactions([txid]);
    expect((await reader.readMempool?.())?.transactions).toEqual([]);
    proxy.clearFaults();
    await waitUntil("it is shown", async () => {
      const { transactions = [] } = (await reader.readMempool?.()) ?? {};
      return transactions.length === 1;
    });
    await chain.mine();
  };

  test("that does not know what a payment spends is asked again, and the payment is shown then", async () => {
    const { reader } = createReaders();
    const firstTxid = await chain.pay({ to: freshBitcoinAddress(), amount: 5_000n });
    await chain.payFromChange(firstTxid, { to: owner, amount: 5_000n });
    await expectShownOnceKnown(reader, firstTxid);
  });

  test("that lists a payment before it knows it is asked for it again, and the payment is shown then", async () => {
    const { reader } = createReaders();
    await expectShownOnceKnown(reader, await chain.pay({ to: owner, amount: 5_000n }));
  });

  test.each([
    ["another is asked", true],
    ["nobody else is there", false],
  ])("whose head is at the end of all numbers is not believed: %s", async (_, hasOther) => {
    const { reader: honestReader } = createReaders([chain.url]);
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    const sender = await readUnconfirmedSender(honestReader);
    await chain.doubleSpend(txid);
    await chain.mine();
    proxy.misreport(misreportMethod("getblockcount", () => Number.MAX_SAFE_INTEGER));
    const { reader } = hasOther
      ? createReaders([proxy.url, chain.url])
      : createReaders([proxy.url], systemClock, 1_000);
    const usedNonce = reader.readUsedNonces(sender, await chain.readHeight());
    await (hasOther
      ? expect(usedNonce).resolves.toBe(1)
      : expect(usedNonce).rejects.toThrow(ChainUnreachableError));
  });

  test("that tells of what waits other bytes than its id's, or no ids, is not believed", async () => {
    const { reader } = createReaders();
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    proxy.misreport(misreportMethod("getrawtransaction", changeLastDigit));
    await expect(reader.readMempool?.()).rejects.toThrow(ChainUnreachableError);
    proxy.misreport(misreportMethod("getrawmempool", () => ["x"]));
    const { reader: otherReader } = createReaders();
    await expect(otherReader.readMempool?.()).rejects.toThrow(ChainUnreachableError);
    proxy.clearFaults();
    const { transactions = [] } = (await reader.readMempool?.()) ?? {};
    expect(transactions.map(({ transactionHash }) => transactionHash)).toEqual([txid]);
    await chain.mine();
  });

  test("cannot make anything be believed but the truth, or nothing, whatever it answers", async () => {
    const { range, txid } = await payOwner();
    const { reader: honestReader } = createReaders([chain.url]);
    const expected = await honestReader.readPointers(range);
    const receipts = await honestReader.readReceipts([txid]);
    await fc.assert(
      fc.asyncProperty(
        hostileResponse,
        fc.constantFrom("getblock", "getrawtransaction"),
        async (corruption, method) => {
          const { close, reader } = createReaders();
          proxy.misreport((calledMethod, _params, result) =>
            calledMethod === method ? corruptResult(corruption.corrupt, result) : result,
          );
          const undefinedIfUnreachable = async <T>(reading: Promise<T>): Promise<T | undefined> => {
            try {
              return await reading;
            } catch (error) {
              expect(error).toBeInstanceOf(ChainUnreachableError);
              return undefined;
            }
          };
          if (method === "getblock") {
            const readResult = await undefinedIfUnreachable(reader.readPointers(range));
            if (readResult !== undefined) expect(readResult.pointers).toEqual(expected.pointers);
          } else {
            const receipt = (await undefinedIfUnreachable(reader.readReceipts([txid])))?.get(txid);
            if (receipt !== undefined) expect(receipt).toEqual(receipts.get(txid));
          }
          close();
        },
      ),
      getPropertyRunOptions({ commit: 15, soak: 60 }),
    );
  });
});

/** What hostile text makes of one result; text that is no JSON becomes a string. */
const corruptResult = (corrupt: (reply: unknown) => string, result: unknown): unknown => {
  const text = corrupt(result);
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, 10_000);
  }
};
