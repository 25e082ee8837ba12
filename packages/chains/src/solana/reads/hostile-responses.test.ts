import { beforeEach, describe, expect, test } from "@jest/globals";
import { deriveSolanaReference } from "../payment-reference.ts";
import { deriveAssociatedTokenAccount } from "../token-account.ts";
import { createCatalogue } from "@payment-links/contracts";
import { createLog, createMetrics, systemClock } from "@payment-links/runtime";
import { closeAfterEach } from "@payment-links/runtime/testing/use-rig";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import { callRpc } from "@payment-links/local-chains/call-rpc";
import { RpcError, serveJsonRpc } from "@payment-links/local-chains/serve-json-rpc";
import {
  type LocalSolanaChain as LocalChain,
  freshAddress,
  startSolanaChain,
} from "@payment-links/local-chains/solana/start-solana-chain";
import { ChainUnreachableError } from "../../reads/chain-reader.ts";
import { createAccountSchedule } from "./account-schedule.ts";
import { usesDurableNonce } from "./durable-nonce.ts";
import { toSolanaChain } from "./solana-chain.ts";
import { solanaDialect } from "./create-readers.ts";
import { createSolanaReader } from "./solana-reader.ts";

/** Replaces the result of a method. If it throws, the call is rejected with that error. */
type Misreport = (method: string, params: readonly unknown[], result: unknown) => unknown;

let chain: LocalChain;
let owner: string;
let misreport: Misreport;
const closeAfterTest = closeAfterEach();
beforeEach(async () => {
  chain = closeAfterTest(await startSolanaChain({ confirmedLag: 0, finalizedLag: 4 }));
  owner = freshAddress();
  misreport = (_method, _params, result) => result;
});

const createReader = async (urls: readonly string[] = []) => {
  const node = await serveJsonRpc({
    handleCall: async (method, params) =>
      misreport(method, params, await callRpc(chain.url, method, params)),
  });
  closeAfterTest(node);
  const catalogue = createCatalogue(chain.catalogueData);
  const [localChain] = catalogue.chains;
  if (localChain === undefined) throw new Error("the catalogue has no chain");
  const solanaChain = toSolanaChain(catalogue, localChain);
  const readers = createChainReaders(
    {
      chainId: localChain.id,
      urls: [node.url, ...urls],
      dialect: solanaDialect(solanaChain),
      rangeBlocksMax: 1_000,
      clock: systemClock,
      log: createLog({ service: "test", level: "fatal" }),
      metrics: createRpcMetrics(createMetrics("test")),
      timing: {
        timeoutMs: 60_000,
        cooldownMs: 20,
        cooldownMsMax: 100,
        failoverMsMax: provokedTimeoutMs(3_000),
      },
    },
    (readerContext) =>
      createSolanaReader(
        readerContext,
        solanaChain,
        createAccountSchedule(solanaChain, {
          readByLatestLink: async () => [{ address: owner, isProven: false }],
        }),
      ),
  );
  return closeAfterTest(readers).reader;
};

const pay = async (): Promise<string> => {
  const references = [deriveSolanaReference("11".repeat(16))];
  const signature = await chain.pay({ to: owner, amount: 5n, references });
  chain.mine();
  return signature;
};

const misreportMethod =
  (targetMethod: string, transform: (result: Record<string, unknown>) => unknown): Misreport =>
  (method, _params, result) =>
    method === targetMethod && typeof result === "object" && result !== null
      ? transform(result as Record<string, unknown>)
      : result;

const overrideMeta = (overrides: object) =>
  misreportMethod("getTransaction", (result) => ({
    ...result,
    meta: { ...(result["meta"] as object), ...overrides },
  }));

const overrideMessage = (overrides: object) =>
  misreportMethod("getTransaction", (result) => {
    const { message, ...otherFields } = result["transaction"] as { message: object };
    return { ...result, transaction: { ...otherFields, message: { ...message, ...overrides } } };
  });

const withoutKeys: Misreport = (method, params, result) => {
  const loadedAddresses = { writable: [], readonly: [] };
  const balances = { preTokenBalances: [], postTokenBalances: [] };
  const emptyMeta = overrideMeta({ innerInstructions: [], ...balances, loadedAddresses });
  const misreports = [emptyMeta, overrideMessage({ accountKeys: [], instructions: [] })];
  return misreports.reduce((current, apply) => apply(method, params, current), result);
};

describe("a response that cannot be right", () => {
  test.each([
    ["a missing error field", overrideMeta({ err: undefined })],
    ["missing inner instructions", overrideMeta({ innerInstructions: null })],
    ["balances of an unknown account", overrideMeta({ postTokenBalances: [{ accountIndex: 99 }] })],
    ["balances that are not a list", overrideMeta({ preTokenBalances: null })],
    [
      "a missing time",
      misreportMethod("getTransaction", (result) => ({ ...result, blockTime: null })),
    ],
    [
      "a time after the year 9999",
      misreportMethod("getTransaction", (result) => ({ ...result, blockTime: 1e15 })),
    ],
    [
      "a slot that is not a number",
      misreportMethod("getTransaction", (result) => ({ ...result, slot: "5" })),
    ],
    [
      "another transaction",
      misreportMethod("getTransaction", (result) => ({
        ...result,
        transaction: { ...(result["transaction"] as object), signatures: ["2".repeat(88)] },
      })),
    ],
    ["no keys", withoutKeys],
    ["no signers", overrideMessage({ header: { numRequiredSignatures: 0 } })],
    ["more signers than keys", overrideMessage({ header: { numRequiredSignatures: 200 } })],
    ["an invalid block", misreportMethod("getBlock", () => ({ blockhash: 7 }))],
  ])("is rejected by readReceipts: %s", async (_, override) => {
    const reader = await createReader();
    const signature = await pay();
    expect((await reader.readReceipts([signature])).size).toBe(1);
    misreport = override;
    await expect(reader.readReceipts([signature])).rejects.toThrow(ChainUnreachableError);
  });

  test.each([
    ["signatures that are not a list", misreportMethod("getSignaturesForAddress", () => ({}))],
    [
      "signatures out of order",
      misreportMethod("getSignaturesForAddress", (result) => [...(result as never)].reverse()),
    ],
    ["slots of another range", misreportMethod("getBlocks", () => [1, 2])],
  ])("is rejected by readPointers: %s", async (_, override) => {
    const reader = await createReader();
    await pay();
    await pay();
    const toBlock = chain.getHeadSlot();
    const range = { fromBlock: toBlock - 1, toBlock };
    expect((await reader.readPointers(range)).pointers).toHaveLength(2);
    misreport = override;
    await expect(reader.readPointers(range)).rejects.toThrow(ChainUnreachableError);
  });
});

describe("a response with fewer accounts than requested", () => {
  beforeEach(() => {
    misreport = misreportMethod("getMultipleAccounts", (result) => ({ ...result, value: [] }));
  });

  test("makes the chain check ask another node", async () => {
    const reader = await createReader([chain.url]);
    expect(await reader.readAccounts([owner])).toEqual([null]);
  });

  test("makes the read of a payer's account state ask another node", async () => {
    const reader = await createReader([chain.url]);
    const request = {
      chainId: "solana",
      tokenAddress: chain.tokens.get("usdc")?.mint ?? "",
      payer: chain.payers[0] ?? "",
      owner,
    };
    expect(await reader.fetchSolanaAccountState(request)).toMatchObject({
      payerAmount: expect.stringMatching(/^[1-9]/),
    });
  });
});

describe("a lagging node", () => {
  const behindError = new RpcError(-32016, "Minimum context slot has not been reached");
  test.each(["getSlot", "getSignaturesForAddress"])(
    "is replaced by another node if %s reports the lag",
    async (targetMethod) => {
      const reader = await createReader([chain.url]);
      const signature = await pay();
      misreport = (method, params, result) => {
        if (method === targetMethod && JSON.stringify(params).includes("minContextSlot"))
          throw behindError;
        return result;
      };
      const toBlock = chain.getHeadSlot();
      const { pointers } = await reader.readPointers({ fromBlock: toBlock, toBlock });
      expect(pointers).toMatchObject([{ transactionHash: signature, blockNumber: toBlock }]);
    },
  );

  test("is replaced by another node if it does not know a transaction", async () => {
    const reader = await createReader([chain.url]);
    const signature = await pay();
    misreport = (method, _params, result) => (method === "getTransaction" ? null : result);
    expect((await reader.readReceipts([signature])).get(signature)?.transfers).toHaveLength(1);
  });
});

describe("lists of signatures", () => {
  test("are read to their end, no matter how many there are, without failed transactions", async () => {
    const reader = await createReader();
    const fromBlock = chain.getHeadSlot() + 1;
    const signatures: string[] = [];
    for (let index = 0; index < 120; index += 1) {
      signatures.push(await chain.pay({ to: owner, amount: 1n }));
      if (index % 40 === 39) chain.mine();
    }
    await chain.payFailing({ to: owner, amount: 1n });
    chain.mine();
    const { pointers } = await reader.readPointers({ fromBlock, toBlock: chain.getHeadSlot() });
    expect(pointers.map(({ transactionHash }) => transactionHash)).toEqual(signatures);
    const mint = chain.tokens.get("usdc");
    expect(await chain.findTokenAccount(owner, "usdc")).toBe(
      deriveAssociatedTokenAccount({ owner, mint: mint?.mint ?? "", program: mint?.program ?? "" }),
    );
  });
});

describe("readAbsent", () => {
  test("returns unknown transactions while the node has every block in which they may have landed", async () => {
    const reader = await createReader();
    const signature = await pay();
    const slot = chain.getHeadSlot();
    chain.mine();
    const unknownSignature = "2".repeat(88);
    const createSeen = (transactionHash: string) => ({
      transactionHash,
      blockNumber: slot,
      blockHash: "3".repeat(44),
    });
    const seenTransactions = [createSeen(unknownSignature), createSeen(signature)];
    const range = (fromBlock: number) => ({ fromBlock, toBlock: chain.getHeadSlot() });
    expect([...(await reader.readAbsent(seenTransactions, range(slot)))]).toEqual([
      unknownSignature,
    ]);
    chain.node.prune(slot + 1);
    expect([...(await reader.readAbsent(seenTransactions, range(slot)))]).toEqual([]);
  });

  test("leaves out a transaction that its slot still lists, and every transaction while the index lags (rule CHAIN-5)", async () => {
    const reader = await createReader();
    const signature = await pay();
    const slot = chain.getHeadSlot();
    const [header] = await reader.readHeaders({ fromBlock: slot, toBlock: slot });
    const range = { fromBlock: slot, toBlock: slot };
    const unknownSignature = "2".repeat(88);
    const seenFields = { blockNumber: slot, blockHash: header?.hash ?? "" };
    const seenTransactions = [signature, unknownSignature].map((transactionHash) => ({
      ...seenFields,
      transactionHash,
    }));
    misreport = (method, params, result) =>
      method === "getTransaction" && params[0] === signature ? null : result;
    expect([...(await reader.readAbsent(seenTransactions, range))]).toEqual([]);
    const laterSignature = await pay();
    chain.mine();
    const laterRange = { fromBlock: slot, toBlock: chain.getHeadSlot() };
    expect(laterSignature).not.toBe(signature);
    // The index has a later transaction, so the node has indexed the slot completely. A transaction
    // that the slot does not list is absent.
    expect([...(await reader.readAbsent(seenTransactions, laterRange))]).toEqual([
      unknownSignature,
    ]);
    chain.skip(1);
    const skippedTransaction = {
      ...seenFields,
      blockNumber: chain.getHeadSlot() + 1,
      transactionHash: unknownSignature,
    };
    chain.mine();
    expect([
      ...(await reader.readAbsent([skippedTransaction], {
        ...laterRange,
        toBlock: chain.getHeadSlot(),
      })),
    ]).toEqual([unknownSignature]);
  });
});

describe("the nonce of a Solana transaction", () => {
  test("is a height: 150 blocks above the transaction's own, no matter how many slots are skipped", async () => {
    const reader = await createReader();
    chain.skip(1_000);
    const signature = await pay();
    const height = chain.getHeight();
    expect((await reader.readSenders([signature])).get(signature)).toEqual({
      address: chain.payers[0],
      nonce: height + 150,
    });
    chain.skip(200);
    chain.mine();
    expect(await reader.readUsedNonces("", chain.getHeadSlot())).toBe(height + 1);
    expect(await reader.readUsedNonces("", chain.getHeadSlot() - 1)).toBe(height);
  });

  test("is unknown for a transaction with a durable nonce (rule CHAIN-5)", () => {
    const keys = ["payer", "11111111111111111111111111111111"] as const;
    const advanceInstruction = { programIndex: 1, accountIndexes: [0], data: "6vx8P" };
    expect(usesDurableNonce({ keys, instructions: [advanceInstruction] })).toBe(true);
    expect(
      usesDurableNonce({ keys, instructions: [{ ...advanceInstruction, data: "3xyZh" }] }),
    ).toBe(false);
    // The runtime uses only the first four bytes. This data has five.
    expect(
      usesDurableNonce({ keys, instructions: [{ ...advanceInstruction, data: "TB8Ka7" }] }),
    ).toBe(true);
    expect(
      usesDurableNonce({ keys, instructions: [{ ...advanceInstruction, programIndex: 0 }] }),
    ).toBe(false);
    expect(
      usesDurableNonce({
        keys,
        instructions: [{ ...advanceInstruction, programIndex: 0 }, advanceInstruction],
      }),
    ).toBe(false);
  });
});
