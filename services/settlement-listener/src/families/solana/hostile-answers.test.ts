import { beforeEach, describe, expect, test } from "@jest/globals";
import { createCatalogue, solanaReference, solanaTokenAccount } from "@payment-links/contracts";
import { openLog, openMetrics, systemClock } from "@payment-links/runtime";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { openChainReaders } from "../../rpc/open-chain-readers.ts";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import { askRpc } from "../../testing/ask-rpc.ts";
import { RpcError, serveJsonRpc } from "../../testing/serve-json-rpc.ts";
import {
  type SolanaChain as LocalChain,
  freshAddress,
  openSolanaChain,
} from "../../testing/solana/open-solana-chain.ts";
import { ChainUnreachableError } from "../../watch/chain-reader.ts";
import { createAccountSchedule } from "./account-schedule.ts";
import { isOfDurableNonce } from "./durable-nonce.ts";
import { solanaChainOf } from "./solana-chain.ts";
import { solanaDialect } from "./solana-family.ts";
import { createSolanaReader } from "./solana-reader.ts";

/** Turns what the node says to a method into something else; throws what it is to refuse with. */
type Lie = (method: string, params: readonly unknown[], told: unknown) => unknown;

let chain: LocalChain;
let owner: string;
let lie: Lie;
const keep = closeAfterEach();
beforeEach(async () => {
  chain = keep(await openSolanaChain({ confirmedLag: 0, finalizedLag: 4 }));
  owner = freshAddress();
  lie = (_method, _params, told) => told;
});

const openReader = async (urls: readonly string[] = []) => {
  const node = await serveJsonRpc({
    answer: async (method, params) => lie(method, params, await askRpc(chain.url, method, params)),
  });
  keep(node);
  const catalogue = createCatalogue(chain.catalogueData);
  const [local] = catalogue.chains;
  if (local === undefined) throw new Error("the catalogue has no chain");
  const solana = solanaChainOf(catalogue, local);
  const readers = openChainReaders(
    {
      chainId: local.id,
      urls: [node.url, ...urls],
      dialect: solanaDialect(solana),
      rangeBlocksMax: 1_000,
      clock: systemClock,
      log: openLog({ service: "test", level: "fatal" }),
      metrics: createRpcMetrics(openMetrics("test")),
      timing: {
        timeoutMs: 60_000,
        restMs: 20,
        restMsMax: 100,
        askingMsMax: provokedTimeoutMs(3_000),
      },
    },
    (asking) =>
      createSolanaReader(
        asking,
        solana,
        createAccountSchedule(solana, {
          readByHearing: async () => [{ address: owner, isProven: false }],
        }),
      ),
  );
  return keep(readers).reader;
};

const pay = async (): Promise<string> => {
  const references = [solanaReference("11".repeat(16))];
  const signature = await chain.pay({ to: owner, amount: 5n, references });
  chain.mine();
  return signature;
};

const change =
  (asked: string, turn: (told: Record<string, unknown>) => unknown): Lie =>
  (method, _params, told) =>
    method === asked && typeof told === "object" && told !== null
      ? turn(told as Record<string, unknown>)
      : told;

const metaWith = (more: object) =>
  change("getTransaction", (told) => ({ ...told, meta: { ...(told["meta"] as object), ...more } }));

const messageWith = (more: object) =>
  change("getTransaction", (told) => {
    const { message, ...signed } = told["transaction"] as { message: object };
    return { ...told, transaction: { ...signed, message: { ...message, ...more } } };
  });

const withoutKeys: Lie = (method, params, told) => {
  const loadedAddresses = { writable: [], readonly: [] };
  const balances = { preTokenBalances: [], postTokenBalances: [] };
  const emptied = metaWith({ innerInstructions: [], ...balances, loadedAddresses });
  const lies = [emptied, messageWith({ accountKeys: [], instructions: [] })];
  return lies.reduce((soFar, one) => one(method, params, soFar), told);
};

describe("an answer that cannot be right is none", () => {
  test.each([
    ["no error that is told", metaWith({ err: undefined })],
    ["no inner instructions that are told", metaWith({ innerInstructions: null })],
    ["balances of no account", metaWith({ postTokenBalances: [{ accountIndex: 99 }] })],
    ["balances without a list", metaWith({ preTokenBalances: null })],
    ["no time", change("getTransaction", (told) => ({ ...told, blockTime: null }))],
    [
      "a time after the year 9999",
      change("getTransaction", (told) => ({ ...told, blockTime: 1e15 })),
    ],
    ["a slot that is no number", change("getTransaction", (told) => ({ ...told, slot: "5" }))],
    [
      "another transaction",
      change("getTransaction", (told) => ({
        ...told,
        transaction: { ...(told["transaction"] as object), signatures: ["2".repeat(88)] },
      })),
    ],
    ["no key", withoutKeys],
    ["nobody who signed", messageWith({ header: { numRequiredSignatures: 0 } })],
    ["more signers than keys", messageWith({ header: { numRequiredSignatures: 200 } })],
    ["a block that is none", change("getBlock", () => ({ blockhash: 7 }))],
  ])("%s", async (_, told) => {
    const reader = await openReader();
    const signature = await pay();
    expect((await reader.readReceipts([signature])).size).toBe(1);
    lie = told;
    await expect(reader.readReceipts([signature])).rejects.toThrow(ChainUnreachableError);
  });

  test.each([
    ["no list", change("getSignaturesForAddress", () => ({}))],
    [
      "a list out of order",
      change("getSignaturesForAddress", (told) => [...(told as never)].reverse()),
    ],
    ["slots of another range", change("getBlocks", () => [1, 2])],
  ])("of pointers: %s", async (_, told) => {
    const reader = await openReader();
    await pay();
    await pay();
    const toBlock = chain.head();
    const range = { fromBlock: toBlock - 1, toBlock };
    expect((await reader.readPointers(range)).pointers).toHaveLength(2);
    lie = told;
    await expect(reader.readPointers(range)).rejects.toThrow(ChainUnreachableError);
  });
});

describe("a list of fewer accounts than were asked for is none, and another node is asked", () => {
  beforeEach(() => {
    lie = change("getMultipleAccounts", (told) => ({ ...told, value: [] }));
  });

  test("by the check of the chain", async () => {
    const reader = await openReader([chain.url]);
    expect(await reader.readAccounts([owner])).toEqual([null]);
  });

  test("by what a payer's transaction is made of", async () => {
    const reader = await openReader([chain.url]);
    const question = {
      chainId: "solana",
      tokenAddress: chain.tokens.get("usdc")?.mint ?? "",
      payer: chain.payers[0] ?? "",
      owner,
    };
    expect(await reader.askSolana(question)).toMatchObject({
      payerAmount: expect.stringMatching(/^[1-9]/),
    });
  });
});

describe("a node that is behind says nothing, and another is asked", () => {
  const behind = new RpcError(-32016, "Minimum context slot has not been reached");
  test.each(["getSlot", "getSignaturesForAddress"])("by %s", async (asked) => {
    const reader = await openReader([chain.url]);
    const signature = await pay();
    lie = (method, params, told) => {
      if (method === asked && JSON.stringify(params).includes("minContextSlot")) throw behind;
      return told;
    };
    const toBlock = chain.head();
    const { pointers } = await reader.readPointers({ fromBlock: toBlock, toBlock });
    expect(pointers).toMatchObject([{ transactionHash: signature, blockNumber: toBlock }]);
  });

  test("a receipt that one does not know is another's to tell", async () => {
    const reader = await openReader([chain.url]);
    const signature = await pay();
    lie = (method, _params, told) => (method === "getTransaction" ? null : told);
    expect((await reader.readReceipts([signature])).get(signature)?.transfers).toHaveLength(1);
  });
});

describe("lists of signatures", () => {
  test("are read to their end, however many there are, and failed ones left out", async () => {
    const reader = await openReader();
    const fromBlock = chain.head() + 1;
    const signatures: string[] = [];
    for (let made = 0; made < 120; made += 1) {
      signatures.push(await chain.pay({ to: owner, amount: 1n }));
      if (made % 40 === 39) chain.mine();
    }
    await chain.payFailing({ to: owner, amount: 1n });
    chain.mine();
    const { pointers } = await reader.readPointers({ fromBlock, toBlock: chain.head() });
    expect(pointers.map(({ transactionHash }) => transactionHash)).toEqual(signatures);
    const mint = chain.tokens.get("usdc");
    expect(await chain.accountOf(owner, "usdc")).toBe(
      solanaTokenAccount({ owner, mint: mint?.mint ?? "", program: mint?.program ?? "" }),
    );
  });
});

describe("which transactions are in no block", () => {
  test("is told of those that a node does not know, while it has all since they may have landed", async () => {
    const reader = await openReader();
    const signature = await pay();
    const slot = chain.head();
    chain.mine();
    const unknown = "2".repeat(88);
    const seen = (transactionHash: string) => ({
      transactionHash,
      blockNumber: slot,
      blockHash: "3".repeat(44),
    });
    const asked = [seen(unknown), seen(signature)];
    const range = (fromBlock: number) => ({ fromBlock, toBlock: chain.head() });
    expect([...(await reader.readAbsent(asked, range(slot)))]).toEqual([unknown]);
    chain.node.prune(slot + 1);
    expect([...(await reader.readAbsent(asked, range(slot)))]).toEqual([]);
  });

  test("is none while its slot still lists it, or while the index of transactions lags (rule CHAIN-5)", async () => {
    const reader = await openReader();
    const signature = await pay();
    const slot = chain.head();
    const [header] = await reader.readHeaders({ fromBlock: slot, toBlock: slot });
    const range = { fromBlock: slot, toBlock: slot };
    const unknown = "2".repeat(88);
    const seen = { blockNumber: slot, blockHash: header?.hash ?? "" };
    const asked = [signature, unknown].map((transactionHash) => ({ ...seen, transactionHash }));
    lie = (method, params, told) =>
      method === "getTransaction" && params[0] === signature ? null : told;
    expect([...(await reader.readAbsent(asked, range))]).toEqual([]);
    const later = await pay();
    chain.mine();
    const through = { fromBlock: slot, toBlock: chain.head() };
    expect(later).not.toBe(signature);
    // The index knows what came later, so it says nothing wrong about what the slot lacks.
    expect([...(await reader.readAbsent(asked, through))]).toEqual([unknown]);
    chain.skip(1);
    const skipped = { ...seen, blockNumber: chain.head() + 1, transactionHash: unknown };
    chain.mine();
    expect([
      ...(await reader.readAbsent([skipped], { ...through, toBlock: chain.head() })),
    ]).toEqual([unknown]);
  });
});

describe("whether a transaction can still land", () => {
  test("is told by heights: 150 blocks more than its own, however many slots are skipped", async () => {
    const reader = await openReader();
    chain.skip(1_000);
    const signature = await pay();
    const height = chain.height();
    expect((await reader.readSenders([signature])).get(signature)).toEqual({
      address: chain.payers[0],
      nonce: height + 150,
    });
    chain.skip(200);
    chain.mine();
    expect(await reader.readUsedNonces("", chain.head())).toBe(height + 1);
    expect(await reader.readUsedNonces("", chain.head() - 1)).toBe(height);
  });

  test("is not told of one that lives by a durable nonce (rule CHAIN-5)", () => {
    const keys = ["payer", "11111111111111111111111111111111"] as const;
    const first = { programIndex: 1, accountIndexes: [0], data: "6vx8P" };
    expect(isOfDurableNonce({ keys, instructions: [first] })).toBe(true);
    expect(isOfDurableNonce({ keys, instructions: [{ ...first, data: "3xyZh" }] })).toBe(false);
    // The runtime looks at the first four bytes alone, and there is a fifth.
    expect(isOfDurableNonce({ keys, instructions: [{ ...first, data: "TB8Ka7" }] })).toBe(true);
    expect(isOfDurableNonce({ keys, instructions: [{ ...first, programIndex: 0 }] })).toBe(false);
    expect(isOfDurableNonce({ keys, instructions: [{ ...first, programIndex: 0 }, first] })).toBe(
      false,
    );
  });
});
