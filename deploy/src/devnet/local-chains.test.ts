import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { encodeFunctionData, erc20Abi, keccak256, parseAbi, zeroAddress } from "viem";
import { tronAddressFromHex, tronAddressToHex } from "@payment-links/chains/tron-address";
import { createCatalogue, devnet } from "@payment-links/contracts";
import { createLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { callRpc } from "@payment-links/local-chains/call-rpc";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import { startBitcoinChain } from "@payment-links/local-chains/bitcoin/start-bitcoin-chain";
import { startSolanaChain } from "@payment-links/local-chains/solana/start-solana-chain";
import {
  type LocalChainName,
  getChainId,
  knownLocalChains,
  localChainNames,
} from "./known-local-chains.ts";
import type { LocalChain } from "./local-chain.ts";
import { startLocalBitcoin } from "./start-local-bitcoin.ts";
import { startLocalEvm } from "./start-local-evm.ts";
import { startLocalSolana } from "./start-local-solana.ts";
import { startLocalTron } from "./start-local-tron.ts";

const bitcoin = await requireBtcd();
const log = createLog({ service: "test", level: "fatal" });

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "local-chains-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const proxyAbi = parseAbi([
  "function transferFromWithReferenceAndFee(address token, address to, uint256 amount, bytes paymentReference, uint256 feeAmount, address feeAddress)",
]);

type Hex = `0x${string}`;

/** Creates the calls that a wallet sends by the checkout's instructions. */
const createPaymentCalls = (
  proxy: Hex,
  { token, destination, amount }: { token: Hex; destination: Hex; amount: bigint },
  reference: Hex,
) => {
  const approveData = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [proxy, amount],
  });
  const payData = encodeFunctionData({
    abi: proxyAbi,
    functionName: "transferFromWithReferenceAndFee",
    args: [token, destination, amount, reference, 0n, zeroAddress],
  });
  return [
    { to: token, value: 0n, data: approveData },
    { to: proxy, value: 0n, data: payData },
  ];
};

/** Returns the address of the chain's only token, after validation by the catalogue. */
const getTokenAddress = (name: LocalChainName): string => {
  const [token, ...otherTokens] = createCatalogue(knownLocalChains[name].catalogueData).tokens;
  expect([token?.chain.id, otherTokens]).toEqual([getChainId(name), []]);
  return token?.address ?? "";
};

describe("the local chains", () => {
  test("have unique ids, titles and files", () => {
    const chains = localChainNames.map((name) => knownLocalChains[name]);
    const ids = localChainNames.map(getChainId);
    const titles = chains.map(({ catalogueData }) => catalogueData.chains[0]?.name);
    const files = chains.map(({ stateFile }) => stateFile);
    for (const values of [ids, titles, files]) expect(new Set(values).size).toBe(chains.length);
  });
});

describe("the local EVM chain", () => {
  // Guards against one payment spending the allowance of another.
  test("accepts concurrent payments", async () => {
    const chain = await startLocalEvm({ log });
    const destination = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
    const tokenAddress = devnet.token;
    const hashes = await Promise.all(
      [5n, 7n, 11n].map((amountBaseUnits) => {
        const payment = { token: devnet.token, destination, amount: amountBaseUnits } as const;
        const calls = createPaymentCalls(devnet.erc20FeeProxy, payment, "0x00");
        return chain.pay({ destination, tokenAddress, amountBaseUnits, calls });
      }),
    );
    for (const hash of hashes) {
      const fetchReceipt = await callRpc(chain.url, "eth_getTransactionReceipt", [hash]);
      expect(fetchReceipt).toMatchObject({ status: "0x1" });
    }
    await chain.close();
  });
});

describe("the local Solana chain", () => {
  test("has the genesis and the mint of the catalogue, on every machine", async () => {
    const chain = await startSolanaChain();
    const { chains, tokens } = chain.catalogueData;
    const usdc = tokens.filter(({ symbol }) => symbol === "USDC");
    expect({ chains, tokens: usdc }).toEqual(knownLocalChains["local-solana"].catalogueData);
    await chain.close();
  });

  const destination = "5ZWj7a1f8tWkjBESHKgrLmXshuXxqeY9SYcfbshpAqPG";
  const reference = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU";

  test("accepts a payment, finalizes it without further action, and has it after a restart", async () => {
    const stateFile = join(directory, "solana");
    const firstChain = await startLocalSolana({ stateFile, log });
    const payment = {
      destination,
      tokenAddress: getTokenAddress("local-solana"),
      amountBaseUnits: 7n,
      reference,
    };
    const signature = await firstChain.pay(payment);
    const fetchSignatures = (chain: LocalChain) =>
      callRpc(chain.url, "getSignaturesForAddress", [reference]);
    const isFinal = async () => ((await fetchSignatures(firstChain)) as unknown[]).length === 1;
    await waitUntil("the payment is final", isFinal);
    const signaturesBefore = await fetchSignatures(firstChain);
    expect(signaturesBefore).toMatchObject([{ signature, err: null }]);
    await firstChain.close();
    const secondChain = await startLocalSolana({ stateFile, log });
    expect(await fetchSignatures(secondChain)).toEqual(signaturesBefore);
    await secondChain.close();
    await expect(fetchSignatures(secondChain)).rejects.toThrow();
  });
});

describe("the local Tron chain", () => {
  const destination = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
  const reference = "00112233445566778899aabbccddeeff";

  test("accepts a payment, finalizes it without further action, and has it after a restart", async () => {
    const stateFile = join(directory, "tron.json");
    const firstChain = await startLocalTron({ stateFile, log });
    const tokenAddress = getTokenAddress("local-tron");
    const [token, owner] = [tronAddressToHex(tokenAddress), tronAddressToHex(destination)] as [
      Hex,
      Hex,
    ];
    const payment = { token, destination: owner, amount: 7n };
    const calls = createPaymentCalls(devnet.erc20FeeProxy, payment, `0x${reference}`).map(
      (call) => ({
        ...call,
        to: tronAddressFromHex(call.to),
      }),
    );
    const hash = await firstChain.pay({ destination, tokenAddress, amountBaseUnits: 7n, calls });
    const fetchReceipt = (chain: LocalChain) =>
      callRpc(chain.url, "eth_getTransactionReceipt", [hash]);
    const { blockNumber, logs } = (await fetchReceipt(firstChain)) as {
      blockNumber: string;
      logs: { topics: string[] }[];
    };
    const topic = owner.slice(2).padStart(64, "0");
    const topics = logs.flatMap((eventLog) => eventLog.topics);
    expect(topics).toEqual(expect.arrayContaining([`0x${topic}`, keccak256(`0x${reference}`)]));
    const readFinalizedNumber = async (): Promise<number> => {
      const block = await callRpc(firstChain.url, "eth_getBlockByNumber", ["finalized", false]);
      return Number((block as { number: string }).number);
    };
    const isFinal = async () => (await readFinalizedNumber()) >= Number(blockNumber);
    await waitUntil("the payment is final", isFinal);
    const receiptBefore = await fetchReceipt(firstChain);
    await firstChain.close();
    const secondChain = await startLocalTron({ stateFile, log });
    expect(await fetchReceipt(secondChain)).toEqual(receiptBefore);
    await secondChain.close();
  });
});

bitcoin.describe("the local Bitcoin", () => {
  test("has the genesis of the catalogue", async () => {
    const chain = await startBitcoinChain({ program: bitcoin.program });
    expect(chain.catalogueData).toEqual(knownLocalChains["local-bitcoin"].catalogueData);
    await chain.close();
  });

  const destination = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";

  test("accepts a payment, finalizes it without further action, and has it after a restart", async () => {
    const stateFile = join(directory, "bitcoin");
    const firstChain = await startLocalBitcoin({ stateFile, log });
    const txid = await firstChain.pay({
      destination,
      tokenAddress: getTokenAddress("local-bitcoin"),
      amountBaseUnits: 7_000n,
    });
    const readConfirmations = async (chain: LocalChain): Promise<number> => {
      const transaction = await callRpc(chain.url, "getrawtransaction", [txid, 1]);
      return (transaction as { confirmations?: number }).confirmations ?? 0;
    };
    const isFinal = async () => (await readConfirmations(firstChain)) >= 6;
    await waitUntil("the payment is six blocks deep", isFinal);
    await firstChain.close();
    const secondChain = await startLocalBitcoin({ stateFile, log });
    expect(await readConfirmations(secondChain)).toBeGreaterThanOrEqual(6);
    await secondChain.close();
  });
});
