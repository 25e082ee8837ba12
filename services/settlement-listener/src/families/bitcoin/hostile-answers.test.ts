import { beforeEach, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createCatalogue } from "@payment-links/contracts";
import { openLog, openMetrics, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { openChainReaders } from "../../rpc/open-chain-readers.ts";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import { needingBtcd } from "../../testing/bitcoin/needing-btcd.ts";
import { openBitcoinChain } from "../../testing/bitcoin/open-bitcoin-chain.ts";
import { type Front, type Lie, openFront } from "../../testing/bitcoin/open-front.ts";
import { purseAddress, signPayment } from "../../testing/bitcoin/open-purse.ts";
import { hostileAnswer } from "../../testing/hostile-answers.ts";
import { freshBitcoinAddress } from "../../testing/bitcoin/fresh-address.ts";
import { RpcError } from "../../testing/serve-json-rpc.ts";
import { ChainUnreachableError } from "../../watch/chain-reader.ts";
import { bitcoinChainOf } from "./bitcoin-chain.ts";
import { bitcoinDialect } from "./bitcoin-family.ts";
import { type BitcoinReader, createBitcoinReader } from "./bitcoin-reader.ts";
import { bitcoinSettings } from "./bitcoin-settings.ts";
import { findChainFault } from "./find-chain-fault.ts";
import { openPayees } from "./payees.ts";
import { propertyRuns } from "@payment-links/contracts/testing/property-runs";

const { describe, program } = await needingBtcd();

describe("a node of Bitcoin", () => {
  const chain = useRig(() => openBitcoinChain({ program }));
  const keep = closeAfterEach();
  let front: Front;
  let owner: string;
  beforeEach(async () => {
    owner = freshBitcoinAddress();
    front = keep(await openFront(chain));
  });

  const open = (
    urls: readonly string[] = [front.url],
    clock = systemClock,
    askingMsMax = 60_000,
  ) => {
    const catalogue = createCatalogue(chain.catalogueData);
    const [local] = catalogue.chains;
    if (local === undefined) throw new Error("the catalogue has no chain");
    const bitcoin = bitcoinChainOf(catalogue, local);
    const owners = { read: async () => [owner] };
    const settings = bitcoinSettings(local.id);
    const readers = openChainReaders(
      {
        chainId: local.id,
        urls,
        dialect: bitcoinDialect(bitcoin),
        rangeBlocksMax: 10,
        clock,
        log: openLog({ service: "test", level: "fatal" }),
        metrics: createRpcMetrics(openMetrics("test")),
        timing: { timeoutMs: 60_000, restMs: 20, restMsMax: 100, askingMsMax },
      },
      (asking) => createBitcoinReader(asking, bitcoin, openPayees(owners, bitcoin.id), settings),
    );
    return {
      ...keep(readers),
      findFault: () => findChainFault(bitcoin, readers.reader),
    };
  };

  const pay = async () => {
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    const [blockHash = ""] = await chain.mine();
    const number = await chain.height();
    return { txid, blockHash, range: { fromBlock: number, toBlock: number } };
  };

  /** Who sent the one payment that waits to be mined. */
  const senderOfWaiting = async (reader: BitcoinReader): Promise<string> => {
    const [waiting] = (await reader.readWaiting?.())?.transactions ?? [];
    return waiting?.sender.address ?? "";
  };

  const change =
    (asked: string, turn: (told: never, params: readonly unknown[]) => unknown): Lie =>
    (method, params, told) =>
      method === asked ? turn(told as never, params) : told;

  test("that is honest shows a payment, whose it is, and what it spends", async () => {
    const { reader } = open();
    const { blockHash, range, txid } = await pay();
    const { end, pointers } = await reader.readPointers(range);
    expect(end).toMatchObject({ number: range.toBlock, hash: blockHash });
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
    const dust = Array.from({ length: count }, () => ({ to: purseAddress, amount: 20_000n }));
    const txid = await chain.payTogether(dust);
    const coins = dust.map(({ amount }, index) => ({ txid, index, amount }));
    const payees = [{ to: freshBitcoinAddress(), amount: 10_000n }];
    await chain.ask("sendrawtransaction", signPayment({ coins, payees, feeRate: 2 }).hex);
    await chain.mine();
    return coins.map(({ index }) => `${txid}:${index}`);
  };

  // Guards against a payer who has one block of megabytes read for each of a hundred small payments.
  test("is asked once for a block in which many looked-for outputs were spent at once", async () => {
    const { reader } = open();
    const senders = await spendDust(50);
    const asked: unknown[] = [];
    front.lie((method, [hash], told) => {
      if (method === "getblock") asked.push(hash);
      return told;
    });
    const height = await chain.height();
    const used = await Promise.all(senders.map((one) => reader.readUsedNonces(one, height)));
    expect(new Set(used)).toEqual(new Set([1]));
    expect(asked).toEqual([await chain.head()]);
  });

  test("is asked again for a block that it did not give", async () => {
    const { reader } = open();
    const [sender = ""] = await spendDust(1);
    let refusals = 0;
    front.lie((method, _params, told) => {
      if (method !== "getblock" || refusals > 0) return told;
      refusals += 1;
      throw new RpcError(-1, "Block not available");
    });
    expect(await reader.readUsedNonces(sender, await chain.height())).toBe(1);
    expect(refusals).toBe(1);
  });

  const otherDigit = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith("0") ? "1" : "0"}`;

  test.each([
    ["a block with another byte", change("getblock", otherDigit)],
    ["a block that ends early", change("getblock", (told: string) => told.slice(0, -2))],
    [
      "a block without its last transaction",
      change("getblock", (told: string) => told.slice(0, 300)),
    ],
    ["a block as JSON", change("getblock", () => ({ hash: "00" }))],
    [
      "another block",
      change("getblock", async () => chain.ask("getblock", await chain.hashAt(1), 0)),
    ],
    ["no block", change("getblock", () => null)],
    ["another hash afterwards", change("getblockhash", () => "00".repeat(32))],
    ["a header of another block", change("getblockheader", () => "00".repeat(80))],
  ])("that tells %s is not believed", async (_, told) => {
    const { reader } = open();
    const { range } = await pay();
    expect((await reader.readPointers(range)).pointers).toHaveLength(1);
    front.lie(told);
    await expect(reader.readPointers(range)).rejects.toThrow(ChainUnreachableError);
  });

  test.each([
    [
      "a transaction with another amount",
      change("getrawtransaction", (told: { hex: string }) => ({
        ...told,
        hex: told.hex.replace("8813000000000000", "8913000000000000"),
      })),
    ],
    ["a transaction without its bytes", change("getrawtransaction", () => ({}))],
    [
      "a block that is no hash",
      change("getrawtransaction", (told: object) => ({ ...told, blockhash: "7" })),
    ],
    [
      "a place without a height",
      change("getblockheader", (told: object) => ({ ...told, height: null })),
    ],
    [
      "a time after the last one that there is",
      change("getblockheader", (told: object) => ({ ...told, time: 1e15 })),
    ],
    [
      "the place of another block",
      change("getblockheader", (told: object) => ({ ...told, hash: "00".repeat(32) })),
    ],
  ])("that tells %s is not believed", async (_, told) => {
    const { reader } = open();
    const { txid } = await pay();
    expect((await reader.readReceipts([txid])).size).toBe(1);
    front.lie(told);
    await expect(reader.readReceipts([txid])).rejects.toThrow(ChainUnreachableError);
  });

  test("that says of a block what Bitcoin Core says of one that lost shows no receipt", async () => {
    const { reader } = open();
    const { txid } = await pay();
    front.lie(change("getblockheader", (told: object) => ({ ...told, confirmations: -1 })));
    expect((await reader.readReceipts([txid])).size).toBe(0);
  });

  test("that does not know a transaction says nothing of it: another is asked", async () => {
    const { txid } = await pay();
    const { reader } = open([front.url, chain.url]);
    front.lie(
      change("getrawtransaction", () => {
        throw new RpcError(-5, "No such mempool or blockchain transaction");
      }),
    );
    expect((await reader.readReceipts([txid])).get(txid)?.transfers).toHaveLength(1);
  });

  test("that is behind says nothing of a range, and another is asked", async () => {
    const { range, txid } = await pay();
    const { reader } = open([front.url, chain.url]);
    front.lie(
      change("getblockhash", (told, [number]) => {
        if (Number(number) < range.toBlock) return told;
        throw new RpcError(-8, "Block height out of range");
      }),
    );
    const { pointers } = await reader.readPointers(range);
    expect(pointers).toMatchObject([{ transactionHash: txid }]);
  });

  test("that keeps no index of transactions, or serves another chain, is refused in words", async () => {
    const { findFault } = open([front.url]);
    expect(await findFault()).toBeUndefined();
    front.lie(
      change("getrawtransaction", () => {
        throw new RpcError(-5, "No such mempool transaction. Use -txindex");
      }),
    );
    expect(await findFault()).toBe("the node keeps no index of transactions (txindex=1)");
    front.lie(change("getblockhash", () => "ab".repeat(32)));
    expect(await findFault()).toBe(`the node serves the chain of genesis ${"ab".repeat(16)}`);
  });

  test("with very many waiting transactions is asked for a part of them at a time, and for each once", async () => {
    const crowd = Array.from({ length: 2_500 }, (_, index) => index.toString(16).padStart(64, "0"));
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    front.forget(crowd);
    front.lie(change("getrawmempool", (told: string[]) => [...crowd, ...told]));
    const { reader } = open([front.url], { ...systemClock, elapsedMs: () => 1 });
    const first = await reader.readWaiting?.();
    expect(first).toEqual({ transactions: [], unreadCount: 501 });
    const second = await reader.readWaiting?.();
    expect(second).toMatchObject({ transactions: [{ transactionHash: txid }], unreadCount: 0 });
    // A list of so many is not asked for again at once.
    expect(await reader.readWaiting?.()).toEqual(second);
    expect(front.askedCount("getrawmempool")).toBe(1);
    // One more is the payment again, as a block may hold it, and one is what it spends.
    expect(front.askedCount("getrawtransaction")).toBe(2_503);
    await chain.mine();
  });

  // Nodes drop what pays little, and an index may lag: neither says that a payment cannot be mined any more.
  test("that knows a payment and what it spends no more does not say that it is lost, as its ancestors spent their own", async () => {
    const { reader } = open();
    const first = await chain.pay({ to: freshBitcoinAddress(), amount: 5_000n });
    const before = await chain.payOutOf(first, { to: freshBitcoinAddress(), amount: 5_000n });
    await chain.mine();
    const txid = await chain.payOutOf(before, { to: owner, amount: 5_000n });
    const address = await senderOfWaiting(reader);
    expect(address.split(";")).toEqual([
      expect.stringContaining(before),
      expect.stringContaining(`${before}=${first}:`),
      expect.stringContaining(`${first}=`),
    ]);
    const height = await chain.height();
    expect(await reader.readUsedNonces(address, height)).toBe(0);
    front.forget([txid, before, first]);
    expect(await reader.readUsedNonces(address, height)).toBe(0);
    // What it spends itself is another matter.
    await chain.doubleSpend(txid);
    await chain.mine();
    expect(await reader.readUsedNonces(address, height)).toBe(0);
    expect(await reader.readUsedNonces(address, height + 1)).toBe(1);
  });

  test("says each time that what a payment spends was spent elsewhere, however many blocks came since", async () => {
    const { reader } = open();
    await chain.mine(30);
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    const address = await senderOfWaiting(reader);
    const height = await chain.height();
    expect(await reader.readUsedNonces(address, height)).toBe(0);
    await chain.doubleSpend(txid);
    await chain.mine();
    expect(await reader.readUsedNonces(address, height + 1)).toBe(1);
    await chain.mine(70);
    for (const later of [height + 1, height + 30, height + 31, height + 70]) {
      expect([later, await reader.readUsedNonces(address, later)]).toEqual([later, 1]);
    }
  });

  test("finds where it was spent also after it was not asked for many blocks", async () => {
    const { reader } = open();
    await chain.mine(30);
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    const address = await senderOfWaiting(reader);
    const height = await chain.height();
    await chain.doubleSpend(txid);
    await chain.mine(60);
    // Blocks are looked through from the newest one on, a third of these at a turn.
    const answers = [];
    for (let turn = 0; turn < 5; turn += 1) {
      answers.push(await reader.readUsedNonces(address, height + 60));
    }
    expect(answers).toEqual([0, 0, 1, 1, 1]);
  });

  /** One that is forgotten is not shown, and once the node knows it again, it is. */
  const isShownOnceKnown = async (reader: BitcoinReader, forgotten: string) => {
    front.forget([forgotten]);
    expect((await reader.readWaiting?.())?.transactions).toEqual([]);
    front.beHonest();
    await waitUntil("it is shown", async () => {
      const { transactions = [] } = (await reader.readWaiting?.()) ?? {};
      return transactions.length === 1;
    });
    await chain.mine();
  };

  test("that does not know what a payment spends is asked again, and the payment is shown then", async () => {
    const { reader } = open();
    const first = await chain.pay({ to: freshBitcoinAddress(), amount: 5_000n });
    await chain.payOutOf(first, { to: owner, amount: 5_000n });
    await isShownOnceKnown(reader, first);
  });

  test("that lists a payment before it knows it is asked for it again, and the payment is shown then", async () => {
    const { reader } = open();
    await isShownOnceKnown(reader, await chain.pay({ to: owner, amount: 5_000n }));
  });

  test.each([
    ["another is asked", true],
    ["nobody else is there", false],
  ])("whose head is at the end of all numbers is not believed: %s", async (_, hasOther) => {
    const { reader: honest } = open([chain.url]);
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    const sender = await senderOfWaiting(honest);
    await chain.doubleSpend(txid);
    await chain.mine();
    front.lie(change("getblockcount", () => Number.MAX_SAFE_INTEGER));
    const { reader } = hasOther
      ? open([front.url, chain.url])
      : open([front.url], systemClock, 1_000);
    const asked = reader.readUsedNonces(sender, await chain.height());
    await (hasOther
      ? expect(asked).resolves.toBe(1)
      : expect(asked).rejects.toThrow(ChainUnreachableError));
  });

  test("that tells of what waits other bytes than its id's, or no ids, is not believed", async () => {
    const { reader } = open();
    const txid = await chain.pay({ to: owner, amount: 5_000n });
    front.lie(change("getrawtransaction", otherDigit));
    await expect(reader.readWaiting?.()).rejects.toThrow(ChainUnreachableError);
    front.lie(change("getrawmempool", () => ["x"]));
    const { reader: other } = open();
    await expect(other.readWaiting?.()).rejects.toThrow(ChainUnreachableError);
    front.beHonest();
    const { transactions = [] } = (await reader.readWaiting?.()) ?? {};
    expect(transactions.map(({ transactionHash }) => transactionHash)).toEqual([txid]);
    await chain.mine();
  });

  test("cannot make anything be believed but the truth, or nothing, whatever it answers", async () => {
    const { range, txid } = await pay();
    const { reader: honest } = open([chain.url]);
    const truth = await honest.readPointers(range);
    const receipts = await honest.readReceipts([txid]);
    await fc.assert(
      fc.asyncProperty(
        hostileAnswer,
        fc.constantFrom("getblock", "getrawtransaction"),
        async (spoiling, method) => {
          const { close, reader } = open();
          front.lie((asked, _params, told) =>
            asked === method ? spoiledResult(spoiling.spoil, told) : told,
          );
          const quiet = async <T>(asked: Promise<T>): Promise<T | undefined> => {
            try {
              return await asked;
            } catch (error) {
              expect(error).toBeInstanceOf(ChainUnreachableError);
              return undefined;
            }
          };
          if (method === "getblock") {
            const told = await quiet(reader.readPointers(range));
            if (told !== undefined) expect(told.pointers).toEqual(truth.pointers);
          } else {
            const told = (await quiet(reader.readReceipts([txid])))?.get(txid);
            if (told !== undefined) expect(told).toEqual(receipts.get(txid));
          }
          close();
        },
      ),
      propertyRuns({ commit: 15, soak: 60 }),
    );
  });
});

/** What hostile text makes of one result; text that is no JSON becomes a string. */
const spoiledResult = (spoil: (reply: unknown) => string, told: unknown): unknown => {
  const text = spoil(told);
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, 10_000);
  }
};
