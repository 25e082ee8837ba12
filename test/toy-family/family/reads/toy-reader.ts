import { type CatalogueToken, Decimal } from "@payment-links/contracts";
import { hashPaymentReference } from "../../../../packages/chains/src/payment-reference.ts";
import type {
  BlockRange,
  ChainReader,
  TransactionReceipt,
  VerifiedTransfer,
} from "../../../../packages/chains/src/reads/chain-reader.ts";
import type { ReaderContext } from "../../../../packages/chains/src/rpc/create-chain-readers.ts";
import type { Provider } from "../../../../packages/chains/src/rpc/provider.ts";
import { RpcFault } from "../../../../packages/chains/src/rpc/rpc-fault.ts";
import {
  type ToyBlock,
  type ToyTransfer,
  blockRequest,
  headRequest,
  transferBlockRequest,
} from "./requests.ts";

/** Creates the reader of a toy chain over its providers. */
export const createToyReader = (
  { failover }: ReaderContext,
  tokens: ReadonlyMap<string, CatalogueToken>,
): ChainReader & { readChain: () => Promise<string> } => {
  const readTransfers = (ids: readonly string[]) =>
    failover.readKnown("transfers", { keys: ids, fetchItems: fetchTransfers });
  return {
    readChain: () => failover.readChain(),
    readHeads: () =>
      failover.readHeads(async (provider) => {
        const [latest] = await provider.request([headRequest]);
        return { latest, safe: null, finalized: null };
      }),
    readHeaders: (range) => failover.run("headers", (provider) => fetchBlocks(provider, range)),
    readPointers: (range) =>
      failover.run("transfers", async (provider) => {
        const blocks = await fetchBlocks(provider, range);
        const endHeader = blocks.at(-1);
        if (endHeader?.number !== range.toBlock) throw new RpcFault("behind", "a block is missing");
        const pointers = blocks.flatMap(
          ({ hash: blockHash, number, timestampSeconds, transfers }) =>
            transfers.map(({ id }) => {
              const location = { blockNumber: number, blockHash, timestampSeconds };
              return { ...location, transactionHash: id };
            }),
        );
        return { pointers, endHeader, providerId: provider.id };
      }),
    readReceipts: async (ids) => {
      const transfers = await readTransfers(ids);
      return new Map(
        [...transfers].map(([id, { block, transfer }]): [string, TransactionReceipt] => [
          id,
          {
            transactionHash: id,
            blockNumber: block.number,
            blockHash: block.hash,
            sender: transfer.from,
            transfers: verifyTransfer(transfer, tokens),
            evidence: transfer,
          },
        ]),
      );
    },
    readSenders: async (ids) => {
      const transfers = await readTransfers(ids);
      return new Map(
        [...transfers].map(([id, { transfer }]) => [id, { address: transfer.from, nonce: 0 }]),
      );
    },
    // Transfers on this chain never expire.
    readAbsent: async () => new Set(),
    readUsedNonces: async () => 0,
  };
};

const verifyTransfer = (
  { amount, reference, to, token: tokenAddress }: ToyTransfer,
  tokens: ReadonlyMap<string, CatalogueToken>,
): readonly VerifiedTransfer[] => {
  const token = tokens.get(tokenAddress);
  if (token === undefined) return [];
  return [
    {
      referenceHash: hashPaymentReference({ paymentReference: reference }),
      ordinal: 0,
      tokenAddress,
      destinationAddress: to,
      amount: new Decimal(`${amount}e-${token.decimals}`),
    },
  ];
};

/** Returns the blocks of a range that the node has. */
const fetchBlocks = async (
  provider: Provider,
  { fromBlock, toBlock }: BlockRange,
): Promise<readonly ToyBlock[]> => {
  const count = Math.max(0, toBlock - fromBlock + 1);
  const requests = Array.from({ length: count }, (_, index) => blockRequest(fromBlock + index));
  const blocks = await provider.request(requests, { inParts: true });
  return blocks.filter((block) => block !== null);
};

const fetchTransfers = async (provider: Provider, ids: readonly string[]) => {
  const blocks = await provider.request(ids.map(transferBlockRequest), { inParts: true });
  return new Map(
    ids.flatMap((id, index) => {
      const block = blocks[index];
      const transfer = block?.transfers.find((candidate) => candidate.id === id);
      return block && transfer ? [[id, { block, transfer }] as const] : [];
    }),
  );
};
