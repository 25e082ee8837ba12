import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { encodeFunctionData, erc20Abi, keccak256, parseAbi, zeroAddress } from "viem";
import { createCatalogue, devnet, tronFromHex, tronToHex } from "@payment-links/contracts";
import { openLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingBtcd } from "@payment-links/settlement-listener/testing/needing-btcd";
import { openBitcoinChain } from "@payment-links/settlement-listener/testing/open-bitcoin-chain";
import { openSolanaChain } from "@payment-links/settlement-listener/testing/open-solana-chain";
import {
  type LocalChainName,
  chainIdOf,
  knownLocalChains,
  localChainNames,
} from "./known-local-chains.ts";
import type { LocalChain } from "./local-chain.ts";
import { openLocalBitcoin } from "./open-local-bitcoin.ts";
import { openLocalEvm } from "./open-local-evm.ts";
import { openLocalSolana } from "./open-local-solana.ts";
import { openLocalTron } from "./open-local-tron.ts";

const bitcoin = await needingBtcd();
const log = openLog({ service: "test", level: "fatal" });

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "local-chains-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const ask = async ({ url }: LocalChain, method: string, ...params: unknown[]) => {
  const { username, password, origin, pathname } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const response = await fetch(`${origin}${pathname}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(username === "" ? {} : { authorization }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { result: unknown }).result;
};

const proxyAbi = parseAbi([
  "function transferFromWithReferenceAndFee(address token, address to, uint256 amount, bytes paymentReference, uint256 feeAmount, address feeAddress)",
]);

type Hex = `0x${string}`;

/** What a wallet sends, by the checkout's instructions. */
const callsOf = (
  proxy: Hex,
  { token, destination, amount }: { token: Hex; destination: Hex; amount: bigint },
  reference: Hex,
) => {
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [proxy, amount],
  });
  const pay = encodeFunctionData({
    abi: proxyAbi,
    functionName: "transferFromWithReferenceAndFee",
    args: [token, destination, amount, reference, 0n, zeroAddress],
  });
  return [
    { to: token, value: 0n, data: approve },
    { to: proxy, value: 0n, data: pay },
  ];
};

/** The token of a chain, which the catalogue takes as it is. */
const tokenOf = (name: LocalChainName): string => {
  const [token, ...others] = createCatalogue(knownLocalChains[name].catalogueData).tokens;
  expect([token?.chain.id, others]).toEqual([chainIdOf(name), []]);
  return token?.address ?? "";
};

describe("the local chains", () => {
  test("have each an id, a title and a file of their own", () => {
    const all = localChainNames.map((name) => knownLocalChains[name]);
    const ids = localChainNames.map(chainIdOf);
    const titles = all.map(({ catalogueData }) => catalogueData.chains[0]?.name);
    const files = all.map(({ stateFile }) => stateFile);
    for (const own of [ids, titles, files]) expect(new Set(own).size).toBe(all.length);
  });
});

describe("the local EVM chain", () => {
  // Guards against one payment that spends the allowance of another.
  test("takes several payments at once", async () => {
    const chain = await openLocalEvm({ log });
    const destination = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
    const tokenAddress = devnet.token;
    const hashes = await Promise.all(
      [5n, 7n, 11n].map((amountBaseUnits) => {
        const order = { token: devnet.token, destination, amount: amountBaseUnits } as const;
        const calls = callsOf(devnet.erc20FeeProxy, order, "0x00");
        return chain.pay({ destination, tokenAddress, amountBaseUnits, calls });
      }),
    );
    for (const hash of hashes) {
      const receipt = await ask(chain, "eth_getTransactionReceipt", hash);
      expect(receipt).toMatchObject({ status: "0x1" });
    }
    await chain.close();
  });
});

describe("the local Solana", () => {
  test("has the genesis and the mint that the catalogue tells, on every machine", async () => {
    const chain = await openSolanaChain();
    const { chains, tokens } = chain.catalogueData;
    const usdc = tokens.filter(({ symbol }) => symbol === "USDC");
    expect({ chains, tokens: usdc }).toEqual(knownLocalChains["local-solana"].catalogueData);
    await chain.close();
  });

  const destination = "5ZWj7a1f8tWkjBESHKgrLmXshuXxqeY9SYcfbshpAqPG";
  const reference = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU";

  test("takes a payment, makes it final by itself, and knows it after a restart", async () => {
    const stateFile = join(directory, "solana");
    const first = await openLocalSolana({ stateFile, log });
    const order = {
      destination,
      tokenAddress: tokenOf("local-solana"),
      amountBaseUnits: 7n,
      reference,
    };
    const signature = await first.pay(order);
    const found = (chain: LocalChain) => ask(chain, "getSignaturesForAddress", reference);
    const isFinal = async () => ((await found(first)) as unknown[]).length === 1;
    await waitUntil("the payment is final", isFinal);
    const told = await found(first);
    expect(told).toMatchObject([{ signature, err: null }]);
    await first.close();
    const second = await openLocalSolana({ stateFile, log });
    expect(await found(second)).toEqual(told);
    await second.close();
    await expect(found(second)).rejects.toThrow();
  });
});

describe("the local Tron", () => {
  const destination = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
  const reference = "00112233445566778899aabbccddeeff";

  test("takes a payment, makes it final by itself, and knows it after a restart", async () => {
    const stateFile = join(directory, "tron.json");
    const first = await openLocalTron({ stateFile, log });
    const tokenAddress = tokenOf("local-tron");
    const [token, owner] = [tronToHex(tokenAddress), tronToHex(destination)] as [Hex, Hex];
    const order = { token, destination: owner, amount: 7n };
    const calls = callsOf(devnet.erc20FeeProxy, order, `0x${reference}`).map((call) => ({
      ...call,
      to: tronFromHex(call.to),
    }));
    const hash = await first.pay({ destination, tokenAddress, amountBaseUnits: 7n, calls });
    const receipt = (chain: LocalChain) => ask(chain, "eth_getTransactionReceipt", hash);
    const { blockNumber, logs } = (await receipt(first)) as {
      blockNumber: string;
      logs: { topics: string[] }[];
    };
    const topic = owner.slice(2).padStart(64, "0");
    const topics = logs.flatMap((one) => one.topics);
    expect(topics).toEqual(expect.arrayContaining([`0x${topic}`, keccak256(`0x${reference}`)]));
    const finalNumber = async (): Promise<number> => {
      const block = await ask(first, "eth_getBlockByNumber", "finalized", false);
      return Number((block as { number: string }).number);
    };
    const isFinal = async () => (await finalNumber()) >= Number(blockNumber);
    await waitUntil("the payment is final", isFinal);
    const told = await receipt(first);
    await first.close();
    const second = await openLocalTron({ stateFile, log });
    expect(await receipt(second)).toEqual(told);
    await second.close();
  });
});

bitcoin.describe("the local Bitcoin", () => {
  test("has the genesis that the catalogue tells", async () => {
    const chain = await openBitcoinChain({ program: bitcoin.program });
    expect(chain.catalogueData).toEqual(knownLocalChains["local-bitcoin"].catalogueData);
    await chain.close();
  });

  const destination = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";

  test("takes a payment, makes it final by itself, and knows it after a restart", async () => {
    const stateFile = join(directory, "bitcoin");
    const first = await openLocalBitcoin({ stateFile, log });
    const txid = await first.pay({
      destination,
      tokenAddress: tokenOf("local-bitcoin"),
      amountBaseUnits: 7_000n,
    });
    const depth = async (chain: LocalChain): Promise<number> => {
      const known = await ask(chain, "getrawtransaction", txid, 1);
      return (known as { confirmations?: number }).confirmations ?? 0;
    };
    const isFinal = async () => (await depth(first)) >= 6;
    await waitUntil("the payment is six blocks deep", isFinal);
    await first.close();
    const second = await openLocalBitcoin({ stateFile, log });
    expect(await depth(second)).toBeGreaterThanOrEqual(6);
    await second.close();
  });
});
