import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Signature, address, createSolanaRpc, getTransactionDecoder } from "@solana/kit";
import { CatalogueData, createCatalogue } from "@payment-links/contracts";
import { callRpc as callNode } from "../call-rpc.ts";
import { type LocalSolanaChain, freshAddress, startSolanaChain } from "./start-solana-chain.ts";

const finalizedLag = 4;
const confirmedOptions = [{ commitment: "confirmed" }];

let chain: LocalSolanaChain;
let [owner, reference] = [freshAddress(), freshAddress()];
const callChain = (method: string, ...params: readonly unknown[]) =>
  callNode(chain.url, method, params);
const createRpc = ({ url }: { url: string }) => createSolanaRpc(url);
const transactionOptions = { encoding: "json", maxSupportedTransactionVersion: 0 } as const;

const listSignatures = async (
  { url }: { url: string } = chain,
  commitment: "confirmed" | "finalized" = "confirmed",
): Promise<string[]> =>
  (await createRpc({ url }).getSignaturesForAddress(reference, { commitment }).send()).map(
    ({ signature }) => signature,
  );

const findTransaction = async (
  signature: string,
  commitment: "confirmed" | "finalized" = "confirmed",
) =>
  await createRpc(chain)
    .getTransaction(signature as Signature, { ...transactionOptions, commitment })
    .send();

/** Returns how much a transaction changed the owner's balances, read like the watch does. */
const computeReceived = async (signature: string): Promise<bigint> => {
  const meta = (await findTransaction(signature))?.meta;
  const sumBalances = (balances: typeof meta extends null ? never : unknown): bigint =>
    (balances as { owner: string; uiTokenAmount: { amount: string } }[])
      .filter((balance) => balance.owner === owner)
      .reduce((sum, { uiTokenAmount }) => sum + BigInt(uiTokenAmount.amount), 0n);
  return sumBalances(meta?.postTokenBalances) - sumBalances(meta?.preTokenBalances);
};

beforeEach(async () => {
  [owner, reference] = [freshAddress(), freshAddress()];
  chain = await startSolanaChain({ finalizedLag });
});
afterEach(() => chain.close());

const createOrder = (overrides: object = {}) => ({
  to: owner,
  amount: 5_000n,
  references: [reference],
  ...overrides,
});

describe("commitments", () => {
  test("a payment is processed, then confirmed, then finalized, and finalized is the default", async () => {
    const signature = await chain.pay(createOrder());
    expect(await callChain("getSignatureStatuses", [signature])).toMatchObject({ value: [null] });
    const slot = chain.mine();
    const readStatus = async () => {
      const { value } = await createRpc(chain)
        .getSignatureStatuses([signature as Signature])
        .send();
      return value[0]?.confirmationStatus;
    };
    expect(await readStatus()).toBe("processed");
    expect(await callChain("getTransaction", signature, { commitment: "confirmed" })).toBeNull();
    chain.mine();
    expect(await readStatus()).toBe("confirmed");
    expect(await findTransaction(signature)).toMatchObject({ slot: BigInt(slot) });
    expect(await callChain("getTransaction", signature, { encoding: "json" })).toBeNull();
    expect(await listSignatures(chain, "finalized")).toEqual([]);
    chain.mine(finalizedLag - 1);
    expect(await readStatus()).toBe("finalized");
    expect(await callChain("getTransaction", signature, { encoding: "json" })).toMatchObject({
      slot,
    });
    expect(await listSignatures(chain, "finalized")).toEqual([signature]);
    expect(await callChain("getSlot")).toBe(slot);
    expect(await callChain("getSlot", { commitment: "processed" })).toBe(slot + finalizedLag);
  });

  test("an account is returned with its state at the commitment", async () => {
    const account = await chain.findTokenAccount(owner, "usdc");
    await chain.pay(createOrder());
    chain.mine();
    const readAmountAt = async (commitment: "processed" | "finalized") => {
      const { value } = await createRpc(chain)
        .getTokenAccountsByOwner(
          owner,
          { mint: chain.tokens.get("usdc")?.mint ?? owner },
          { commitment, encoding: "jsonParsed" },
        )
        .send();
      return value.map((tokenAccount) => [
        tokenAccount.pubkey,
        tokenAccount.account.data.parsed.info.tokenAmount.amount,
      ]);
    };
    expect(await readAmountAt("processed")).toEqual([[account, "5000"]]);
    expect(await readAmountAt("finalized")).toEqual([]);
    chain.mine(finalizedLag);
    expect(await readAmountAt("finalized")).toEqual([[account, "5000"]]);
    const { value } = await createRpc(chain).getTokenAccountBalance(account).send();
    expect(value).toMatchObject({ amount: "5000", uiAmountString: "0.005" });
  });
});

describe("payments", () => {
  test("change the owner's balances by the received amount, whatever the token withholds", async () => {
    const exactSignature = await chain.pay(createOrder());
    const feeSignature = await chain.pay(createOrder({ token: "fee", payer: 1 }));
    const newerSignature = await chain.pay(createOrder({ token: "newer" }));
    chain.mine(2);
    expect(await computeReceived(exactSignature)).toBe(5_000n);
    expect(await computeReceived(feeSignature)).toBe(4_950n);
    expect(await computeReceived(newerSignature)).toBe(5_000n);
    expect(chain.readReceived(owner, "fee")).toBe(4_950n);
    expect(await listSignatures()).toEqual([newerSignature, feeSignature, exactSignature]);
  });

  test("through a lookup table have keys that are not in the message, but in the chain's indexes", async () => {
    const signature = await chain.pay(createOrder({ usesLookupTable: true }));
    chain.mine(2);
    expect(await listSignatures()).toEqual([signature]);
    const foundTransaction = await findTransaction(signature);
    expect(foundTransaction?.version).toBe(0);
    expect(foundTransaction?.transaction.message.accountKeys).not.toContain(reference);
    expect(foundTransaction?.meta?.loadedAddresses?.readonly).toContain(reference);
    expect(await computeReceived(signature)).toBe(5_000n);
    await expect(
      callChain("getTransaction", signature, { commitment: "confirmed" }),
    ).rejects.toMatchObject({ code: -32015 });
  });

  test("in a transaction of version 1 are returned only to callers that support it", async () => {
    const signature = await chain.pay(createOrder({ isVersion1: true }));
    chain.mine(2);
    expect(await listSignatures()).toEqual([signature]);
    await expect(
      callChain("getTransaction", signature, { commitment: "confirmed", ...transactionOptions }),
    ).rejects.toMatchObject({ code: -32015 });
    const newestOptions = { ...transactionOptions, maxSupportedTransactionVersion: 1 };
    expect(
      await callChain("getTransaction", signature, { commitment: "confirmed", ...newestOptions }),
    ).toMatchObject({
      version: 1,
      transaction: { message: { accountKeys: expect.arrayContaining([reference]) } },
    });
    expect(chain.readReceived(owner, "usdc")).toBe(5_000n);
  });

  test("can share one transaction, to two accounts of the owner", async () => {
    const secondAccount = await chain.createTokenAccount(owner, "usdc");
    chain.mine();
    const signature = await chain.payInOneTransaction([
      createOrder(),
      createOrder({ amount: 7n, account: secondAccount }),
    ]);
    chain.mine(2);
    expect(await computeReceived(signature)).toBe(5_007n);
    expect(chain.readReceived(owner, "usdc")).toBe(5_007n);
  });

  test("that fail, are forged or use the coin have the reference but move no token", async () => {
    const failedSignature = await chain.payFailing(createOrder());
    const forgedSignature = await chain.payForged(createOrder());
    const coinSignature = await chain.payCoin(createOrder({ amount: 1_000_000n }));
    chain.mine(2);
    expect(await listSignatures()).toEqual([coinSignature, forgedSignature, failedSignature]);
    const meta = (await findTransaction(failedSignature))?.meta;
    expect(meta?.err).toEqual({ InstructionError: [2n, { Custom: 1n }] });
    expect(meta?.fee).toBe(5_000n);
    for (const signature of [failedSignature, forgedSignature, coinSignature])
      expect(await computeReceived(signature)).toBe(0n);
    expect(await callChain("getBalance", owner, { commitment: "processed" })).toMatchObject({
      value: 1_000_000,
    });
  });

  test("without a reference are listed only for the owner's account, with their memo", async () => {
    const signature = await chain.pay(createOrder({ references: [], memo: "for tea" }));
    chain.mine(2);
    expect(await listSignatures()).toEqual([]);
    const account = await chain.findTokenAccount(owner, "usdc");
    const entries = await createRpc(chain)
      .getSignaturesForAddress(account, { commitment: "confirmed" })
      .send();
    expect(entries).toMatchObject([{ signature, memo: "[7] for tea", err: null }]);
  });

  test("are listed by signature, newest first, in pages between two signatures", async () => {
    const signatures: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      signatures.unshift(await chain.pay(createOrder({ amount: BigInt(index + 1) })));
      if (index % 2 === 1) chain.mine();
    }
    chain.mine(2);
    const fetchPage = async (options: object) => {
      const result = await callChain("getSignaturesForAddress", reference, {
        commitment: "confirmed",
        ...options,
      });
      return (result as { signature: string }[]).map(({ signature }) => signature);
    };
    expect(await fetchPage({})).toEqual(signatures);
    expect(await fetchPage({ limit: 2 })).toEqual(signatures.slice(0, 2));
    expect(await fetchPage({ before: signatures[1], limit: 2 })).toEqual(signatures.slice(2, 4));
    expect(await fetchPage({ until: signatures[3] })).toEqual(signatures.slice(0, 3));
    const unknownSignature = "5".repeat(88);
    expect(await fetchPage({ before: unknownSignature })).toEqual([]);
    expect(await fetchPage({ until: unknownSignature })).toEqual(signatures);
    await expect(fetchPage({ limit: 1_001 })).rejects.toMatchObject({ code: -32602 });
  });
});

describe("slots and forks", () => {
  test("skipped, future and too old slots have different errors, and an archive has its own", async () => {
    const firstSlot = chain.mine();
    chain.skip(2);
    const nextSlot = chain.mine(1);
    chain.mine(1);
    const fetchBlock = (slot: number, url = chain.url) =>
      callNode(url, "getBlock", [
        slot,
        { commitment: "confirmed", transactionDetails: "none", rewards: false },
      ]);
    expect(await fetchBlock(nextSlot)).toMatchObject({ parentSlot: firstSlot, blockHeight: 2 });
    await expect(fetchBlock(firstSlot + 1)).rejects.toMatchObject({ code: -32007 });
    await expect(fetchBlock(nextSlot + 9)).rejects.toMatchObject({ code: -32004 });
    await expect(fetchBlock(firstSlot - 9)).rejects.toMatchObject({ code: -32001 });
    const archiveNode = await chain.startNode();
    archiveNode.becomeArchive();
    await expect(fetchBlock(firstSlot + 1, archiveNode.url)).rejects.toMatchObject({
      code: -32009,
    });
    expect(await callChain("getBlocks", firstSlot, { commitment: "confirmed" })).toEqual([
      firstSlot,
      nextSlot,
    ]);
  });
});

describe("nodes", () => {
  test("answer batches in order, with an error for each unknown method", async () => {
    const response = await fetch(chain.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(
        ["getHealth", "getNothing"].map((method, id) => ({ jsonrpc: "2.0", id, method })),
      ),
    });
    expect(await response.json()).toMatchObject([
      { id: 0, result: "ok" },
      { id: 1, error: { code: -32601 } },
    ]);
    expect(await callChain("getGenesisHash")).toBe(chain.genesisHash);
  });
});

describe("the local Solana chain", () => {
  const sendRaw = (bytes: Uint8Array, options: object = {}) =>
    callChain("sendTransaction", Buffer.from(bytes).toString("base64"), {
      encoding: "base64",
      ...options,
    });

  test("lands a wallet's transaction once, no matter how often it is sent", async () => {
    const { bytes, signature } = await chain.sign([createOrder()]);
    expect(await sendRaw(bytes)).toBe(signature);
    expect(await sendRaw(bytes)).toBe(signature);
    chain.mine();
    expect(chain.readReceived(owner, "usdc")).toBe(5_000n);
    await expect(sendRaw(bytes)).rejects.toMatchObject({
      code: -32002,
      data: { err: "AlreadyProcessed" },
    });
  });

  test("rejects an invalid signature and a payment that would fail", async () => {
    const { bytes } = await chain.sign([createOrder()]);
    const corruptedBytes = bytes.with(1, (bytes[1] ?? 0) ^ 1);
    await expect(sendRaw(corruptedBytes)).rejects.toMatchObject({ code: -32003 });
    const excessivePayment = await chain.sign([createOrder({ amount: 10n ** 18n })]);
    await expect(sendRaw(excessivePayment.bytes)).rejects.toMatchObject({ code: -32002 });
    await expect(sendRaw(bytes.slice(0, 70))).rejects.toMatchObject({ code: -32602 });
    const text = Buffer.from(excessivePayment.bytes).toString("base64");
    expect(await callChain("simulateTransaction", text, { encoding: "base64" })).toMatchObject({
      value: { err: { InstructionError: [2, { Custom: 1 }] } },
    });
    const { messageBytes } = getTransactionDecoder().decode(bytes);
    const message = Buffer.from(messageBytes).toString("base64");
    expect(await callChain("getFeeForMessage", message)).toMatchObject({ value: 5_000 });
  });

  test("never lands a transaction with an expired blockhash", async () => {
    const { bytes, signature } = await chain.sign([createOrder()]);
    const latestBlockhash = await callChain("getLatestBlockhash", { commitment: "processed" });
    const { blockhash } = (latestBlockhash as { value: { blockhash: string } }).value;
    chain.mine(151);
    expect(
      await callChain("isBlockhashValid", blockhash, { commitment: "processed" }),
    ).toMatchObject({
      value: false,
    });
    await expect(sendRaw(bytes)).rejects.toMatchObject({ data: { err: "BlockhashNotFound" } });
    await sendRaw(bytes, { skipPreflight: true });
    chain.mine();
    expect(chain.findSlot(signature)).toBeUndefined();
  });

  test("continues with the same blocks from a journal file", async () => {
    const directory = await mkdtemp(join(tmpdir(), "kept-solana-"));
    const journalFile = join(directory, "blocks");
    const firstChain = await startSolanaChain({ journalFile });
    const signature = await firstChain.pay(createOrder({ memo: "kept" }));
    await firstChain.payFailing(createOrder());
    expect(firstChain.hasUnfinalizedTransactions()).toBe(true);
    firstChain.skip(3);
    firstChain.mine(2);
    const blocks = [
      firstChain.getHeadSlot(),
      await callNode(firstChain.url, "getLatestBlockhash", confirmedOptions),
    ];
    await firstChain.close();
    // An incomplete line, as a killed process leaves it.
    await appendFile(journalFile, '{"slot":4');
    const secondChain = await startSolanaChain({ journalFile });
    expect([
      secondChain.getHeadSlot(),
      await callNode(secondChain.url, "getLatestBlockhash", confirmedOptions),
    ]).toEqual(blocks);
    expect(secondChain.findSlot(signature)).toBe(firstChain.findSlot(signature));
    expect(secondChain.readReceived(owner, "usdc")).toBe(5_000n);
    expect(secondChain.hasUnfinalizedTransactions()).toBe(true);
    await secondChain.pay(createOrder());
    secondChain.mine(40);
    expect([
      secondChain.readReceived(owner, "usdc"),
      secondChain.hasUnfinalizedTransactions(),
    ]).toEqual([10_000n, false]);
    secondChain.reorg(1);
    expect(() => secondChain.mine()).toThrow(/cannot fork/);
    await secondChain.close();
    await rm(directory, { recursive: true, force: true });
  });

  test("has the same token and payer addresses in every run", async () => {
    const otherChain = await startSolanaChain();
    expect([otherChain.catalogueData, otherChain.payers]).toEqual([
      chain.catalogueData,
      chain.payers,
    ]);
    const [{ caip2 } = { caip2: "" }] = chain.catalogueData.chains;
    expect(caip2).toBe(`solana:${String(await callChain("getGenesisHash")).slice(0, 32)}`);
    const { tokens } = createCatalogue(CatalogueData.parse(chain.catalogueData));
    expect(tokens.map(({ symbol }) => symbol)).toEqual(["USDC", "COIN9", "NEWER", "FEE"]);
    const mint = address(otherChain.tokens.get("usdc")?.mint ?? "");
    const { value } = await createRpc(otherChain)
      .getAccountInfo(mint, { encoding: "base64" })
      .send();
    expect(value?.owner).toBe(otherChain.tokens.get("usdc")?.program);
    await otherChain.close();
  });
});
