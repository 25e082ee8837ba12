import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { BlockHeader, ChainReader, TransactionPointer } from "../../reads/chain-reader.ts";
import { blockRequest, blockHashRequest } from "./rpc-requests.ts";
import type { Payees } from "./payees.ts";
import { type FindPayee, paysKnownPayee } from "./verify-transaction.ts";
import { fetchHeaders } from "./read-headers.ts";

/**
 * Creates the read that scans whole blocks in order for transactions that pay the addresses of
 * links. Afterwards it checks that the last block is still on the node's chain.
 */
export const createReadPointers =
  ({ failover }: Pick<ReaderContext, "failover">, payees: Payees): ChainReader["readPointers"] =>
  async ({ fromBlock, toBlock, headers: knownHeaders }) => {
    const { findPayee } = await payees.read();
    return failover.run("blocks", async (provider) => {
      const endBlock = Math.min(toBlock, fromBlock + provider.range.blocksMax() - 1);
      const headers =
        knownHeaders?.filter(({ number }) => number >= fromBlock && number <= endBlock) ??
        (await fetchHeaders(provider, { fromBlock, toBlock: endBlock }));
      const endHeader = headers.at(-1);
      if (endHeader?.number !== endBlock)
        throw new RpcFault("behind", "the node has not reached the end of the range");
      const pointers: TransactionPointer[] = [];
      for (const header of headers)
        pointers.push(...(await fetchPointers(provider, header, findPayee)));
      const [currentEndHash] = await provider.request([blockHashRequest(endBlock)]);
      if (currentEndHash !== endHeader.hash)
        throw new RpcFault("behind", "the chain changed during the read");
      return { pointers, endHeader, providerId: provider.id };
    });
  };

const fetchPointers = async (
  provider: Provider,
  { hash, number }: BlockHeader,
  findPayee: FindPayee,
): Promise<readonly TransactionPointer[]> => {
  const [block] = await provider.request([blockRequest(hash)]);
  const { timestampSeconds } = block;
  const location = { blockNumber: number, blockHash: hash, timestampSeconds };
  return block.transactions
    .filter(({ outputs }) => paysKnownPayee(outputs, findPayee))
    .map(({ txid }) => ({ ...location, transactionHash: txid }));
};
