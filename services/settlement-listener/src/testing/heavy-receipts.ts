import { openCatalogue } from "@payment-links/contracts";
import { erc20ProxyEvent, transferEvent } from "../families/evm/decode-event.ts";
import { serveHeavyNode } from "./run-heavy-chain.ts";

const blockNumber = 16;
const word = (value: number): string => value.toString(16).padStart(64, "0");
const blockHash = `0x${"ab".repeat(32)}`;

/**
 * A node of Polygon with one block of payments through the fee proxy. Each has two logs of another contract
 * with megabytes of data, which costs its sender little.
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
  const token = tokens.find(({ id }) => id === "usdc-polygon")?.address.toLowerCase();
  const proxy = chain?.feeProxies?.erc20.toLowerCase();
  if (token === undefined || proxy === undefined) throw new Error("the catalogue has no Polygon");
  const data = `0x${"00".repeat(dataCharacters / 2)}`;
  const stranger = `0x${"33".repeat(20)}`;
  const paid = `0x${token.slice(2).padStart(64, "0")}${word(0x2222)}${word(1)}${word(0)}${word(0)}`;
  const logsOf = (hash: string) => [
    {
      address: token,
      topics: [transferEvent.topic0, `0x${word(0x1111)}`, `0x${word(0x2222)}`],
      data: `0x${word(1)}`,
      logIndex: "0x0",
    },
    { address: proxy, topics: [erc20ProxyEvent.topic0, hash], data: paid, logIndex: "0x1" },
    { address: stranger, topics: [], data, logIndex: "0x2" },
    { address: stranger, topics: [], data, logIndex: "0x3" },
  ];
  const place = { blockNumber: `0x${blockNumber.toString(16)}`, blockHash };
  const hashes = Array.from({ length: count }, (_, index) => `0x${word(index + 1)}`);
  const header = {
    number: place.blockNumber,
    hash: blockHash,
    parentHash: `0x${"cd".repeat(32)}`,
    timestamp: "0x65000000",
    logsBloom: `0x${"ff".repeat(256)}`,
  };
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_chainId: () => "0x89",
    eth_getBlockByNumber: () => header,
    eth_getLogs: () =>
      hashes.map((transactionHash, index) => ({
        ...logsOf(transactionHash)[1],
        ...place,
        transactionHash,
        logIndex: `0x${(4 * index + 1).toString(16)}`,
      })),
    eth_getTransactionReceipt: ([transactionHash]) => ({
      ...place,
      transactionHash,
      status: "0x1",
      from: `0x${"11".repeat(20)}`,
      logsBloom: header.logsBloom,
      logs: logsOf(String(transactionHash)),
    }),
  };
  const node = await serveHeavyNode((method, params) => {
    const answer = answers[method];
    if (answer === undefined) throw new Error(method);
    return answer(params);
  });
  return { ...node, blockNumber };
};
