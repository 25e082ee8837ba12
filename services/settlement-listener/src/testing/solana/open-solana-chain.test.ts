import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Signature, address, createSolanaRpc, getTransactionDecoder } from "@solana/kit";
import { CatalogueData, createCatalogue } from "@payment-links/contracts";
import { askRpc as askNode } from "../ask-rpc.ts";
import { type SolanaChain, freshAddress, openSolanaChain } from "./open-solana-chain.ts";

const finalizedLag = 4;
const confirmed = [{ commitment: "confirmed" }];

let chain: SolanaChain;
let [owner, reference] = [freshAddress(), freshAddress()];
const ask = (method: string, ...params: readonly unknown[]) => askNode(chain.url, method, params);
const rpcOf = ({ url }: { url: string }) => createSolanaRpc(url);
const form = { encoding: "json", maxSupportedTransactionVersion: 0 } as const;

const listed = async (
  { url }: { url: string } = chain,
  commitment: "confirmed" | "finalized" = "confirmed",
): Promise<string[]> =>
  (await rpcOf({ url }).getSignaturesForAddress(reference, { commitment }).send()).map(
    ({ signature }) => signature,
  );

const find = async (signature: string, commitment: "confirmed" | "finalized" = "confirmed") =>
  await rpcOf(chain)
    .getTransaction(signature as Signature, { ...form, commitment })
    .send();

/** By how much a transaction changed what the owner holds, as a watcher reads it. */
const arrived = async (signature: string): Promise<bigint> => {
  const meta = (await find(signature))?.meta;
  const of = (balances: typeof meta extends null ? never : unknown): bigint =>
    (balances as { owner: string; uiTokenAmount: { amount: string } }[])
      .filter((balance) => balance.owner === owner)
      .reduce((sum, { uiTokenAmount }) => sum + BigInt(uiTokenAmount.amount), 0n);
  return of(meta?.postTokenBalances) - of(meta?.preTokenBalances);
};

beforeEach(async () => {
  [owner, reference] = [freshAddress(), freshAddress()];
  chain = await openSolanaChain({ finalizedLag });
});
afterEach(() => chain.close());

const order = (change: object = {}) => ({
  to: owner,
  amount: 5_000n,
  references: [reference],
  ...change,
});

describe("commitments", () => {
  test("a payment is seen processed, confirmed, finalized, and finalized is what is meant", async () => {
    const signature = await chain.pay(order());
    expect(await ask("getSignatureStatuses", [signature])).toMatchObject({ value: [null] });
    const slot = chain.mine();
    const status = async () => {
      const { value } = await rpcOf(chain)
        .getSignatureStatuses([signature as Signature])
        .send();
      return value[0]?.confirmationStatus;
    };
    expect(await status()).toBe("processed");
    expect(await ask("getTransaction", signature, { commitment: "confirmed" })).toBeNull();
    chain.mine();
    expect(await status()).toBe("confirmed");
    expect(await find(signature)).toMatchObject({ slot: BigInt(slot) });
    expect(await ask("getTransaction", signature, { encoding: "json" })).toBeNull();
    expect(await listed(chain, "finalized")).toEqual([]);
    chain.mine(finalizedLag - 1);
    expect(await status()).toBe("finalized");
    expect(await ask("getTransaction", signature, { encoding: "json" })).toMatchObject({ slot });
    expect(await listed(chain, "finalized")).toEqual([signature]);
    expect(await ask("getSlot")).toBe(slot);
    expect(await ask("getSlot", { commitment: "processed" })).toBe(slot + finalizedLag);
  });

  test("an account is told as it was at the commitment", async () => {
    const account = await chain.accountOf(owner, "usdc");
    await chain.pay(order());
    chain.mine();
    const amountAt = async (commitment: "processed" | "finalized") => {
      const { value } = await rpcOf(chain)
        .getTokenAccountsByOwner(
          owner,
          { mint: chain.tokens.get("usdc")?.mint ?? owner },
          { commitment, encoding: "jsonParsed" },
        )
        .send();
      return value.map((one) => [one.pubkey, one.account.data.parsed.info.tokenAmount.amount]);
    };
    expect(await amountAt("processed")).toEqual([[account, "5000"]]);
    expect(await amountAt("finalized")).toEqual([]);
    chain.mine(finalizedLag);
    expect(await amountAt("finalized")).toEqual([[account, "5000"]]);
    const { value } = await rpcOf(chain).getTokenAccountBalance(account).send();
    expect(value).toMatchObject({ amount: "5000", uiAmountString: "0.005" });
  });
});

describe("payments", () => {
  test("what arrived is what the owner's balances say, whatever the token withholds", async () => {
    const exact = await chain.pay(order());
    const feed = await chain.pay(order({ token: "fee", payer: 1 }));
    const newer = await chain.pay(order({ token: "newer" }));
    chain.mine(2);
    expect(await arrived(exact)).toBe(5_000n);
    expect(await arrived(feed)).toBe(4_950n);
    expect(await arrived(newer)).toBe(5_000n);
    expect(chain.received(owner, "fee")).toBe(4_950n);
    expect(await listed()).toEqual([newer, feed, exact]);
  });

  test("a look-up table hides keys in the message, not in the chain's indexes", async () => {
    const signature = await chain.pay(order({ usesTable: true }));
    chain.mine(2);
    expect(await listed()).toEqual([signature]);
    const found = await find(signature);
    expect(found?.version).toBe(0);
    expect(found?.transaction.message.accountKeys).not.toContain(reference);
    expect(found?.meta?.loadedAddresses?.readonly).toContain(reference);
    expect(await arrived(signature)).toBe(5_000n);
    await expect(
      ask("getTransaction", signature, { commitment: "confirmed" }),
    ).rejects.toMatchObject({ code: -32015 });
  });

  test("a transaction of version 1 is told to those who ask for it", async () => {
    const signature = await chain.pay(order({ isNewest: true }));
    chain.mine(2);
    expect(await listed()).toEqual([signature]);
    await expect(
      ask("getTransaction", signature, { commitment: "confirmed", ...form }),
    ).rejects.toMatchObject({ code: -32015 });
    const newest = { ...form, maxSupportedTransactionVersion: 1 };
    expect(
      await ask("getTransaction", signature, { commitment: "confirmed", ...newest }),
    ).toMatchObject({
      version: 1,
      transaction: { message: { accountKeys: expect.arrayContaining([reference]) } },
    });
    expect(chain.received(owner, "usdc")).toBe(5_000n);
  });

  test("several payments in one transaction, to two accounts of the owner", async () => {
    const second = await chain.openAccount(owner, "usdc");
    chain.mine();
    const signature = await chain.payTogether([order(), order({ amount: 7n, account: second })]);
    chain.mine(2);
    expect(await arrived(signature)).toBe(5_007n);
    expect(chain.received(owner, "usdc")).toBe(5_007n);
  });

  test("a failed, a forged and a coin's payment name the reference and move no token", async () => {
    const failed = await chain.payFailing(order());
    const forged = await chain.payForged(order());
    const coin = await chain.payCoin(order({ amount: 1_000_000n }));
    chain.mine(2);
    expect(await listed()).toEqual([coin, forged, failed]);
    const meta = (await find(failed))?.meta;
    expect(meta?.err).toEqual({ InstructionError: [2n, { Custom: 1n }] });
    expect(meta?.fee).toBe(5_000n);
    for (const signature of [failed, forged, coin]) expect(await arrived(signature)).toBe(0n);
    expect(await ask("getBalance", owner, { commitment: "processed" })).toMatchObject({
      value: 1_000_000,
    });
  });

  test("without a reference only the owner's account tells of it, with its memo", async () => {
    const signature = await chain.pay(order({ references: [], memo: "for tea" }));
    chain.mine(2);
    expect(await listed()).toEqual([]);
    const account = await chain.accountOf(owner, "usdc");
    const entries = await rpcOf(chain)
      .getSignaturesForAddress(account, { commitment: "confirmed" })
      .send();
    expect(entries).toMatchObject([{ signature, memo: "[7] for tea", err: null }]);
  });

  test("signatures are listed newest first, in pages between two of them", async () => {
    const all: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      all.unshift(await chain.pay(order({ amount: BigInt(count + 1) })));
      if (count % 2 === 1) chain.mine();
    }
    chain.mine(2);
    const page = async (options: object) => {
      const found = await ask("getSignaturesForAddress", reference, {
        commitment: "confirmed",
        ...options,
      });
      return (found as { signature: string }[]).map(({ signature }) => signature);
    };
    expect(await page({})).toEqual(all);
    expect(await page({ limit: 2 })).toEqual(all.slice(0, 2));
    expect(await page({ before: all[1], limit: 2 })).toEqual(all.slice(2, 4));
    expect(await page({ until: all[3] })).toEqual(all.slice(0, 3));
    const unknown = "5".repeat(88);
    expect(await page({ before: unknown })).toEqual([]);
    expect(await page({ until: unknown })).toEqual(all);
    await expect(page({ limit: 1_001 })).rejects.toMatchObject({ code: -32602 });
  });
});

describe("slots and forks", () => {
  test("skipped, future and unknown slots are told apart, and by an archive in its words", async () => {
    const first = chain.mine();
    chain.skip(2);
    const next = chain.mine(1);
    chain.mine(1);
    const block = (slot: number, url = chain.url) =>
      askNode(url, "getBlock", [
        slot,
        { commitment: "confirmed", transactionDetails: "none", rewards: false },
      ]);
    expect(await block(next)).toMatchObject({ parentSlot: first, blockHeight: 2 });
    await expect(block(first + 1)).rejects.toMatchObject({ code: -32007 });
    await expect(block(next + 9)).rejects.toMatchObject({ code: -32004 });
    await expect(block(first - 9)).rejects.toMatchObject({ code: -32001 });
    const archive = await chain.openNode();
    archive.becomeArchive();
    await expect(block(first + 1, archive.url)).rejects.toMatchObject({ code: -32009 });
    expect(await ask("getBlocks", first, { commitment: "confirmed" })).toEqual([first, next]);
  });

  test("a fork drops a payment and all that it changed; its slot is skipped", async () => {
    const signature = await chain.pay(order());
    const slot = chain.mine();
    chain.mine();
    expect(await listed()).toEqual([signature]);
    chain.reorg(2);
    expect(await listed()).toEqual([]);
    expect(await find(signature)).toBeNull();
    expect(chain.received(owner, "usdc")).toBe(0n);
    expect(chain.slotOf(signature)).toBeUndefined();
    await expect(ask("getBlock", slot, { commitment: "confirmed" })).rejects.toMatchObject({
      code: -32007,
    });
    const blocks = await ask("getBlocks", slot - 1, { commitment: "confirmed" });
    expect(blocks).toEqual([slot - 1, slot + 2]);
    chain.mine(finalizedLag);
    expect(await listed(chain, "finalized")).toEqual([]);
  });

  test("a payment lands again under the same signature, in a later slot", async () => {
    const signature = await chain.pay(order());
    const slot = chain.mine();
    chain.mine();
    chain.reorg(2, [{ signature, offset: 1 }]);
    chain.mine();
    expect(chain.slotOf(signature)).toBe(slot + 3);
    expect(await find(signature)).toMatchObject({ slot: BigInt(slot + 3) });
    expect(await listed()).toEqual([signature]);
    expect(chain.received(owner, "usdc")).toBe(5_000n);
  });

  test("what is final is not taken back, unless a test says so", async () => {
    const signature = await chain.pay(order());
    chain.mine(finalizedLag + 1);
    expect(() => chain.reorg(finalizedLag + 1)).toThrow(/below the last final/);
    expect(await listed(chain, "finalized")).toEqual([signature]);
    chain.reorg(finalizedLag + 1, [], { breaksFinality: true });
    expect(await listed(chain, "finalized")).toEqual([]);
  });
});

describe("nodes", () => {
  test("one has pruned what is below a slot: it tells of nothing there, and of all that follows", async () => {
    const old = await chain.pay(order());
    const slot = chain.mine();
    const young = await chain.pay(order());
    chain.mine(finalizedLag);
    const { url, ...pruned } = await chain.openNode();
    const askPruned = (method: string, ...params: readonly unknown[]) =>
      askNode(url, method, params);
    const options = { ...form, commitment: "confirmed" };
    const first = await askPruned("getFirstAvailableBlock");
    pruned.prune(slot + 1);
    expect(first).toBeLessThan(slot);
    expect(await askPruned("getFirstAvailableBlock")).toBe(slot + 1);
    expect(await askPruned("getTransaction", old, options)).toBeNull();
    expect(await askPruned("getTransaction", young, options)).toMatchObject({ slot: slot + 1 });
    expect(await listed({ url })).toEqual([young]);
    expect(await askPruned("getBlocks", slot, slot + 1, ...confirmed)).toEqual([slot + 1]);
    await expect(askPruned("getBlock", slot, options)).rejects.toMatchObject({ code: -32001 });
    pruned.restore();
    expect(await listed({ url })).toEqual([young, old]);
  });

  test("one lags, one stays on its fork, one has forgotten", async () => {
    const [lagging, frozen, forgetful] = await Promise.all([
      chain.openNode(),
      chain.openNode(),
      chain.openNode(),
    ]);
    lagging.lagBy(2);
    const signature = await chain.pay(order());
    chain.mine(2);
    frozen.freeze();
    forgetful.forget(signature);
    expect(await listed(lagging)).toEqual([]);
    expect(await listed(forgetful)).toEqual([]);
    chain.reorg(2);
    expect(await listed()).toEqual([]);
    expect(await listed(frozen)).toEqual([signature]);
    frozen.goOn();
    expect(await listed(frozen)).toEqual([]);
    await expect(
      askNode(lagging.url, "getSlot", [{ minContextSlot: chain.head() }]),
    ).rejects.toMatchObject({ code: -32016 });
    lagging.lagBy(0);
    chain.skip(200);
    chain.mine(2);
    lagging.lagBy(2);
    await expect(askNode(lagging.url, "getHealth", [])).rejects.toMatchObject({ code: -32005 });
    expect(await ask("getHealth")).toBe("ok");
  });

  test("answers batches in order, and says which calls it does not know", async () => {
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
    expect(await ask("getGenesisHash")).toBe(chain.genesisHash);
  });
});

describe("sending", () => {
  const sendRaw = (bytes: Uint8Array, options: object = {}) =>
    ask("sendTransaction", Buffer.from(bytes).toString("base64"), {
      encoding: "base64",
      ...options,
    });

  test("a wallet's transaction lands once, however often it is sent", async () => {
    const { bytes, signature } = await chain.sign([order()]);
    expect(await sendRaw(bytes)).toBe(signature);
    expect(await sendRaw(bytes)).toBe(signature);
    chain.mine();
    expect(chain.received(owner, "usdc")).toBe(5_000n);
    await expect(sendRaw(bytes)).rejects.toMatchObject({
      code: -32002,
      data: { err: "AlreadyProcessed" },
    });
  });

  test("a spoilt signature and a payment that will fail are refused at once", async () => {
    const { bytes } = await chain.sign([order()]);
    const spoilt = bytes.with(1, (bytes[1] ?? 0) ^ 1);
    await expect(sendRaw(spoilt)).rejects.toMatchObject({ code: -32003 });
    const tooMuch = await chain.sign([order({ amount: 10n ** 18n })]);
    await expect(sendRaw(tooMuch.bytes)).rejects.toMatchObject({ code: -32002 });
    await expect(sendRaw(bytes.slice(0, 70))).rejects.toMatchObject({ code: -32602 });
    const text = Buffer.from(tooMuch.bytes).toString("base64");
    expect(await ask("simulateTransaction", text, { encoding: "base64" })).toMatchObject({
      value: { err: { InstructionError: [2, { Custom: 1 }] } },
    });
    const { messageBytes } = getTransactionDecoder().decode(bytes);
    const message = Buffer.from(messageBytes).toString("base64");
    expect(await ask("getFeeForMessage", message)).toMatchObject({ value: 5_000 });
  });

  test("a transaction over a hash that is too old is never in a block", async () => {
    const { bytes, signature } = await chain.sign([order()]);
    const hash = await ask("getLatestBlockhash", { commitment: "processed" });
    const { blockhash } = (hash as { value: { blockhash: string } }).value;
    chain.mine(151);
    expect(await ask("isBlockhashValid", blockhash, { commitment: "processed" })).toMatchObject({
      value: false,
    });
    await expect(sendRaw(bytes)).rejects.toMatchObject({ data: { err: "BlockhashNotFound" } });
    await sendRaw(bytes, { skipPreflight: true });
    chain.mine();
    expect(chain.slotOf(signature)).toBeUndefined();
  });

  test("a chain that is kept in a file goes on where it stood, block for block", async () => {
    const directory = await mkdtemp(join(tmpdir(), "kept-solana-"));
    const journalFile = join(directory, "blocks");
    const first = await openSolanaChain({ journalFile });
    const signature = await first.pay(order({ memo: "kept" }));
    await first.payFailing(order());
    expect(first.isBusy()).toBe(true);
    first.skip(3);
    first.mine(2);
    const blocks = [first.head(), await askNode(first.url, "getLatestBlockhash", confirmed)];
    await first.close();
    // A process that was killed may have written half a line.
    await appendFile(journalFile, '{"slot":4');
    const second = await openSolanaChain({ journalFile });
    expect([second.head(), await askNode(second.url, "getLatestBlockhash", confirmed)]).toEqual(
      blocks,
    );
    expect(second.slotOf(signature)).toBe(first.slotOf(signature));
    expect(second.received(owner, "usdc")).toBe(5_000n);
    expect(second.isBusy()).toBe(true);
    await second.pay(order());
    second.mine(40);
    expect([second.received(owner, "usdc"), second.isBusy()]).toEqual([10_000n, false]);
    second.reorg(1);
    expect(() => second.mine()).toThrow(/cannot fork/);
    await second.close();
    await rm(directory, { recursive: true, force: true });
  });

  test("given the same start, tokens and payers have the same addresses", async () => {
    const other = await openSolanaChain();
    expect([other.catalogueData, other.payers]).toEqual([chain.catalogueData, chain.payers]);
    const [{ caip2 } = { caip2: "" }] = chain.catalogueData.chains;
    expect(caip2).toBe(`solana:${String(await ask("getGenesisHash")).slice(0, 32)}`);
    const { tokens } = createCatalogue(CatalogueData.parse(chain.catalogueData));
    expect(tokens.map(({ symbol }) => symbol)).toEqual(["USDC", "COIN9", "NEWER", "FEE"]);
    const mint = address(other.tokens.get("usdc")?.mint ?? "");
    const { value } = await rpcOf(other).getAccountInfo(mint, { encoding: "base64" }).send();
    expect(value?.owner).toBe(other.tokens.get("usdc")?.program);
    await other.close();
  });
});
