import { type Hex, encodeFunctionData, encodeFunctionResult, erc20Abi, keccak256 } from "viem";
import { openCatalogue } from "@payment-links/contracts";
import { erc20ProxyEvent, transferEvent } from "../families/evm/decode-event.ts";
import { serveHeavyNode } from "./run-heavy-chain.ts";
import { sampleLink } from "./samples.ts";

const blockNumber = 16;
/** The head moves on from here by one block each time the node is asked for it. */
const firstHead = 15;
const finalDepth = 5;
const word = (value: number): string => value.toString(16).padStart(64, "0");
const hashOf = (number: number): Hex => `0x${"ab".repeat(16)}${word(number).slice(32)}`;
const bloomOf = (byte: string): string => `0x${byte.repeat(256)}`;
const quantity = (value: number): string => `0x${value.toString(16)}`;

/**
 * A node of Polygon with one block of payments through the fee proxy. Each has two logs of another contract
 * with megabytes of data, which costs its sender little. The last one pays `link`. The others pay no link.
 */
export const serveHeavyReceipts = async ({
  count,
  dataCharacters,
}: {
  count: number;
  dataCharacters: number;
}) => {
  const { chains, tokens } = openCatalogue();
  const chain = chains.find(({ id }) => id === "137");
  const usdc = tokens.find(({ id }) => id === "usdc-polygon");
  const proxy = chain?.feeProxies?.erc20.toLowerCase();
  if (usdc === undefined || proxy === undefined) throw new Error("the catalogue has no Polygon");
  const token = usdc.address.toLowerCase();
  const link = sampleLink({ chainId: "137", tokenAddress: usdc.address });
  const payee = link.destinationAddress.slice(2).toLowerCase().padStart(64, "0");
  const data = `0x${"00".repeat(dataCharacters / 2)}`;
  const stranger = `0x${"33".repeat(20)}`;
  const paid = `0x${token.slice(2).padStart(64, "0")}${payee}${word(1)}${word(0)}${word(0)}`;
  const hashes = Array.from({ length: count }, (_, index) => `0x${word(index + 1)}`);
  const referenceOf = (hash: string) =>
    hash === hashes.at(-1) ? keccak256(`0x${link.paymentReference}`) : hash;
  const logsOf = (hash: string) => [
    {
      address: token,
      topics: [transferEvent.topic0, `0x${word(0x1111)}`, `0x${payee}`],
      data: `0x${word(1)}`,
      logIndex: "0x0",
    },
    {
      address: proxy,
      topics: [erc20ProxyEvent.topic0, referenceOf(hash)],
      data: paid,
      logIndex: "0x1",
    },
    { address: stranger, topics: [], data, logIndex: "0x2" },
    { address: stranger, topics: [], data, logIndex: "0x3" },
  ];
  const place = { blockNumber: quantity(blockNumber), blockHash: hashOf(blockNumber) };
  const sender = `0x${"11".repeat(20)}`;
  let head = firstHead;
  const headerOf = (number: number) => ({
    number: quantity(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: quantity(0x6500_0000 + 2 * number),
    logsBloom: bloomOf(number === blockNumber ? "ff" : "00"),
  });
  const tokenAt = (address: string) =>
    tokens.find((one) => one.chainId === "137" && one.address.toLowerCase() === address);
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_chainId: () => "0x89",
    eth_blockNumber: () => {
      head += 1;
      return quantity(head);
    },
    eth_getBlockByNumber: ([block]) =>
      headerOf(block === "safe" || block === "finalized" ? head - finalDepth : Number(block)),
    eth_getCode: () => "0x60",
    eth_call: ([call]) => {
      const { data: asked, to } = call as { data: Hex; to: string };
      const { decimals = 0, symbol = "" } = tokenAt(to.toLowerCase()) ?? {};
      return asked === encodeFunctionData({ abi: erc20Abi, functionName: "decimals" })
        ? encodeFunctionResult({ abi: erc20Abi, functionName: "decimals", result: decimals })
        : encodeFunctionResult({ abi: erc20Abi, functionName: "symbol", result: symbol });
    },
    eth_getLogs: ([filter]) => {
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      if (Number(fromBlock) > blockNumber || Number(toBlock) < blockNumber) return [];
      return hashes.map((transactionHash, index) => ({
        ...logsOf(transactionHash)[1],
        ...place,
        transactionHash,
        logIndex: quantity(4 * index + 1),
      }));
    },
    eth_getTransactionReceipt: ([transactionHash]) => ({
      ...place,
      transactionHash,
      status: "0x1",
      from: sender,
      logsBloom: bloomOf("ff"),
      logs: logsOf(String(transactionHash)),
    }),
    eth_getTransactionByHash: ([hash]) => ({
      ...place,
      hash,
      from: sender,
      nonce: quantity(hashes.indexOf(String(hash))),
      to: proxy,
      input: "0x",
    }),
  };
  const node = await serveHeavyNode((method, params) => {
    const answer = answers[method];
    if (answer === undefined) throw new Error(method);
    return answer(params);
  });
  return { ...node, blockNumber, link };
};
