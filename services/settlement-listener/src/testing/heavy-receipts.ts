import { type Hex, keccak256 } from "viem";
import { loadCatalogue } from "@payment-links/contracts";
import { callToken } from "@payment-links/local-chains/evm/call-token";
import {
  createProxyLog,
  createTransferLog,
  encodeWord,
} from "@payment-links/local-chains/evm/encode-logs";
import { serveHeavyNode } from "./run-heavy-chain.ts";
import { sampleLink } from "./samples.ts";

const blockNumber = 16;
/** The first head. Each request for the head advances it by one block. */
const firstHead = 15;
const finalDepth = 5;
const toBlockHash = (number: number): Hex => `0x${"ab".repeat(16)}${encodeWord(number).slice(32)}`;
const repeatBloomByte = (byte: string): string => `0x${byte.repeat(256)}`;
const toQuantity = (value: number): string => `0x${value.toString(16)}`;

/**
 * Serves a Polygon node with one block of payments through the fee proxy. The receipt of each
 * payment also has two logs of another contract with megabytes of data. For the sender, such logs
 * are cheap. The last payment pays `link`, and the others do not pay a link.
 */
export const serveHeavyReceipts = async ({
  count,
  dataCharacters,
}: {
  count: number;
  dataCharacters: number;
}) => {
  const { chains, tokens } = loadCatalogue();
  const chain = chains.find(({ id }) => id === "137");
  const usdc = tokens.find(({ id }) => id === "usdc-polygon");
  const proxy = chain?.feeProxies?.erc20.toLowerCase();
  if (usdc === undefined || proxy === undefined) throw new Error("the catalogue has no Polygon");
  const token = usdc.address.toLowerCase();
  const link = sampleLink({ chainId: "137", tokenAddress: usdc.address });
  const data = `0x${"00".repeat(dataCharacters / 2)}`;
  const otherContract = `0x${"33".repeat(20)}`;
  const payment = { token, to: link.destinationAddress, baseUnits: 1 };
  const hashes = Array.from({ length: count }, (_, index) => `0x${encodeWord(index + 1)}`);
  const findReferenceHash = (hash: string) =>
    hash === hashes.at(-1) ? keccak256(`0x${link.paymentReference}`) : hash;
  const createLogs = (hash: string) => [
    { ...createTransferLog({ ...payment, from: "0x1111" }), logIndex: "0x0" },
    {
      ...createProxyLog({ ...payment, proxy, referenceHash: findReferenceHash(hash) }),
      logIndex: "0x1",
    },
    { address: otherContract, topics: [], data, logIndex: "0x2" },
    { address: otherContract, topics: [], data, logIndex: "0x3" },
  ];
  const location = { blockNumber: toQuantity(blockNumber), blockHash: toBlockHash(blockNumber) };
  const sender = `0x${"11".repeat(20)}`;
  let head = firstHead;
  const createHeader = (number: number) => ({
    number: toQuantity(number),
    hash: toBlockHash(number),
    parentHash: toBlockHash(number - 1),
    timestamp: toQuantity(0x6500_0000 + 2 * number),
    logsBloom: repeatBloomByte(number === blockNumber ? "ff" : "00"),
  });
  const findToken = (address: string) =>
    tokens.find(
      (candidate) => candidate.chainId === "137" && candidate.address.toLowerCase() === address,
    );
  const handlers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_chainId: () => "0x89",
    eth_blockNumber: () => {
      head += 1;
      return toQuantity(head);
    },
    eth_getBlockByNumber: ([block]) =>
      createHeader(block === "safe" || block === "finalized" ? head - finalDepth : Number(block)),
    eth_getCode: () => "0x60",
    eth_call: ([call]) => {
      const { data: callData, to } = call as { data: string; to: string };
      return callToken(findToken(to.toLowerCase()) ?? { decimals: 0, symbol: "" }, callData);
    },
    eth_getLogs: ([filter]) => {
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      if (Number(fromBlock) > blockNumber || Number(toBlock) < blockNumber) return [];
      return hashes.map((transactionHash, index) => ({
        ...createLogs(transactionHash)[1],
        ...location,
        transactionHash,
        logIndex: toQuantity(4 * index + 1),
      }));
    },
    eth_getTransactionReceipt: ([transactionHash]) => ({
      ...location,
      transactionHash,
      status: "0x1",
      from: sender,
      logsBloom: repeatBloomByte("ff"),
      logs: createLogs(String(transactionHash)),
    }),
    eth_getTransactionByHash: ([hash]) => ({
      ...location,
      hash,
      from: sender,
      nonce: toQuantity(hashes.indexOf(String(hash))),
      to: proxy,
      input: "0x",
    }),
  };
  const node = await serveHeavyNode((method, params) => {
    const handler = handlers[method];
    if (handler === undefined) throw new Error(method);
    return handler(params);
  });
  return { ...node, blockNumber, link };
};
