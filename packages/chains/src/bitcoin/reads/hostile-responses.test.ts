import { beforeEach, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createCatalogue } from "@payment-links/contracts";
import { createLog, createMetrics, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import { startBitcoinChain } from "@payment-links/local-chains/bitcoin/start-bitcoin-chain";
import {
  type NodeProxy,
  type Misreport,
  startNodeProxy,
} from "@payment-links/local-chains/bitcoin/start-node-proxy";
import { walletAddress, signPayment } from "@payment-links/local-chains/bitcoin/wallet";
import { hostileResponse } from "../../testing/hostile-responses.ts";
import { freshBitcoinAddress } from "@payment-links/local-chains/bitcoin/fresh-address";
import { RpcError } from "@payment-links/local-chains/serve-json-rpc";
import { ChainUnreachableError } from "../../reads/chain-reader.ts";
import { toBitcoinChain } from "./bitcoin-chain.ts";
import { bitcoinDialect } from "./create-readers.ts";
import { type BitcoinReader, createBitcoinReader } from "./bitcoin-reader.ts";
import { bitcoinSettings } from "./bitcoin-settings.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { createPayees } from "./payees.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const { describe, program } = await requireBtcd();

describe("the Bitcoin reader with an untrusted node", () => {
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

  /** Returns the sender of the only payment in the mempool. */
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

  test("returns a payment, its payee and its inputs from an honest node", async () => {
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

  /** Spends `count` small outputs in one transaction in the newest block. Returns the outpoints. */
  const spendDust = async (count: number): Promise<string[]> => {
    const outputs = Array.from({ length: count }, () => ({ to: walletAddress, amount: 20_000n }));
    const txid = await chain.payInOneTransaction(outputs);
    const coins = outputs.map(({ amount }, index) => ({ txid, index, amount }));
    const payees = [{ to: freshBitcoinAddress(), amount: 10_000n }];
    await chain.callRpc("sendrawtransaction", signPayment({ coins, payees, feeRate: 2 }).hex);
    await chain.mine();
    return coins.map(({ index }) => `${txid}:${index}`);
  };

  // Guards against a payer who makes the listener fetch the same large block for each of 100 small
  // payments.
  test("reads a block once even if many outputs it looks for were spent there", async () => {
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

  test("requests a block again after the node failed to return it", async () => {
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
    ["a block with a changed byte", misreportMethod("getblock", changeLastDigit)],
    [
      "a block without its last byte",
      misreportMethod("getblock", (result: string) => result.slice(0, -2)),
    ],
    [
      "a block cut off after 150 bytes",
      misreportMethod("getblock", (result: string) => result.slice(0, 300)),
    ],
    ["a block as JSON", misreportMethod("getblock", () => ({ hash: "00" }))],
    [
      "another block",
      misreportMethod("getblock", async () =>
        chain.callRpc("getblock", await chain.readBlockHash(1), 0),
      ),
    ],
    ["an empty block result", misreportMethod("getblock", () => null)],
    ["a wrong block hash", misreportMethod("getblockhash", () => "00".repeat(32))],
    ["a header of another block", misreportMethod("getblockheader", () => "00".repeat(80))],
  ])("rejects %s in readPointers", async (_, misreport) => {
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
      "an invalid block hash",
      misreportMethod("getrawtransaction", (result: object) => ({ ...result, blockhash: "7" })),
    ],
    [
      "a block header without a height",
      misreportMethod("getblockheader", (result: object) => ({ ...result, height: null })),
    ],
    [
      "a time beyond the largest valid date",
      misreportMethod("getblockheader", (result: object) => ({ ...result, time: 1e15 })),
    ],
    [
      "the height of another block",
      misreportMethod("getblockheader", (result: object) => ({ ...result, hash: "00".repeat(32) })),
    ],
  ])("rejects %s in readReceipts", async (_, misreport) => {
    const { reader } = createReaders();
    const { txid } = await payOwner();
    expect((await reader.readReceipts([txid])).size).toBe(1);
    proxy.misreport(misreport);
    await expect(reader.readReceipts([txid])).rejects.toThrow(ChainUnreachableError);
  });

  test("returns no receipt if the block has -1 confirmations, as Bitcoin Core reports an orphaned block", async () => {
    const { reader } = createReaders();
    const { txid } = await payOwner();
    proxy.misreport(
      misreportMethod("getblockheader", (result: object) => ({ ...result, confirmations: -1 })),
    );
    expect((await reader.readReceipts([txid])).size).toBe(0);
  });

  test("asks another node for a transaction that the first one does not know", async () => {
    const { txid } = await payOwner();
    const { reader } = createReaders([proxy.url, chain.url]);
    proxy.misreport(
      misreportMethod("getrawtransaction", () => {
        throw new RpcError(-5, "No such mempool or blockchain transaction");
      }),
    );
    expect((await reader.readReceipts([txid])).get(txid)?.transfers).toHaveLength(1);
  });

  test("asks another node for a range that the first one has not reached", async () => {
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

  test("rejects a node without a transaction index or of another chain, with the reason", async () => {
    const { findFault } = createReaders([proxy.url]);
    expect(await findFault()).toBeUndefined();
    proxy.misreport(
      misreportMethod("getrawtransaction", () => {
        throw new RpcError(-5, "No such mempool transaction. Use -txindex");
      }),
    );
    expect(await findFault()).toBe("the node has no transaction index (txindex=1)");
    proxy.misreport(misreportMethod("getblockhash", () => "ab".repeat(32)));
    expect(await findFault()).toBe(
      `the node serves a chain whose genesis hash starts with ${"ab".repeat(16)}`,
    );
  });

  test("reads a large mempool in parts, and each transaction once", async () => {
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
    expect(firstRead).toEqual({ transactions: [], unreadCount: 501, unreadableHashes: [] });
    const secondRead = await reader.readMempool?.();
    expect(secondRead).toMatchObject({ transactions: [{ transactionHash: txid }], unreadCount: 0 });
    // A large list is not requested again until a delay has passed.
    expect(await reader.readMempool?.()).toEqual(secondRead);
    expect(proxy.getRequestCount("getrawmempool")).toBe(1);
    // The additional requests look up the payment again, because it may have been mined, and the
    // transaction that it spends.
    expect(proxy.getRequestCount("getrawtransaction")).toBe(2_503);
    await chain.mine();
  });

  // Nodes evict transactions with low fees, and a node's index can lag. Neither proves that a
  // payment can no longer be mined.
  test("does not report a payment as lost if its ancestors spent their own inputs, even if the node forgot all of them", async () => {
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
    // If the payment's own input is spent, the payment can no longer be mined.
    await chain.doubleSpend(txid);
    await chain.mine();
    expect(await reader.readUsedNonces(address, height)).toBe(0);
    expect(await reader.readUsedNonces(address, height + 1)).toBe(1);
  });

  test("reports a double-spent input every time, no matter how many blocks follow", async () => {
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

  test("finds a double spend even if no request came for many blocks", async () => {
    const { reader } = createReaders();
    await chain.mine(30);
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    const address = await readUnconfirmedSender(reader);
    const height = await chain.readHeight();
    await chain.doubleSpend(txid);
    await chain.mine(60);
    // Each call searches a third of these blocks, starting with the newest.
    const usedNonces = [];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      usedNonces.push(await reader.readUsedNonces(address, height + 60));
    }
    expect(usedNonces).toEqual([0, 0, 1, 1, 1]);
  });

  /**
   * Expects that a transaction is not returned while the node does not know it, and is returned
   * once it does.
   */
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

  test("asks again for an unknown input, and then returns the payment", async () => {
    const { reader } = createReaders();
    const firstTxid = await chain.pay({ to: freshBitcoinAddress(), amount: 5_000n });
    await chain.payFromChange(firstTxid, { to: owner, amount: 5_000n });
    await expectShownOnceKnown(reader, firstTxid);
  });

  test("asks again for a payment that the node lists before it knows it, and then returns it", async () => {
    const { reader } = createReaders();
    await expectShownOnceKnown(reader, await chain.pay({ to: owner, amount: 5_000n }));
  });

  test.each([
    ["asks another node", true],
    ["fails without another node", false],
  ])("does not trust a head at the largest safe integer: %s", async (_, hasOther) => {
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

  test("does not return a mempool transaction whose bytes do not match the id, and rejects mempool lists without ids", async () => {
    const { reader } = createReaders();
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    proxy.misreport(misreportMethod("getrawtransaction", changeLastDigit));
    expect(await reader.readMempool?.()).toEqual({
      transactions: [],
      unreadCount: 0,
      unreadableHashes: [txid],
    });
    proxy.misreport(misreportMethod("getrawmempool", () => ["x"]));
    const { reader: otherReader } = createReaders();
    await expect(otherReader.readMempool?.()).rejects.toThrow(ChainUnreachableError);
    proxy.clearFaults();
    await waitUntil("the transaction is returned", async () => {
      const { transactions = [], unreadableHashes = [] } = (await reader.readMempool?.()) ?? {};
      return transactions[0]?.transactionHash === txid && unreadableHashes.length === 0;
    });
    await chain.mine();
  });

  test("requests an invalid mempool transaction from another node, and otherwise less and less often (rule CHAIN-32)", async () => {
    let elapsedMs = 0;
    const clock = { ...systemClock, elapsedMs: () => elapsedMs };
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    proxy.misreport(misreportMethod("getrawtransaction", () => "zz"));
    const { reader: readerOfTwo } = createReaders([proxy.url, chain.url], clock);
    expect(await readerOfTwo.readMempool?.()).toMatchObject({
      transactions: [{ transactionHash: txid }],
      unreadableHashes: [],
    });
    const { reader } = createReaders([proxy.url], clock);
    const countRequests = async (): Promise<number> => {
      const before = proxy.getRequestCount("getrawtransaction");
      await reader.readMempool?.();
      return proxy.getRequestCount("getrawtransaction") - before;
    };
    const requestedAtMs: number[] = [];
    for (elapsedMs = 1; elapsedMs < 3_600_000; elapsedMs += 500)
      if ((await countRequests()) > 0) requestedAtMs.push(elapsedMs);
    expect(requestedAtMs.slice(0, 4)).toEqual([1, 1_001, 3_001, 7_001]);
    expect(requestedAtMs.length).toBeLessThan(20);
    proxy.misreport(misreportMethod("getrawmempool", () => []));
    elapsedMs += 1_000;
    expect(await reader.readMempool?.()).toMatchObject({ unreadableHashes: [] });
    await chain.mine();
  });

  test("returns the correct result or none, whatever the node responds", async () => {
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

/** Corrupts one result. Results that are not valid JSON afterwards are returned as strings. */
const corruptResult = (corrupt: (reply: unknown) => string, result: unknown): unknown => {
  const text = corrupt(result);
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, 10_000);
  }
};
