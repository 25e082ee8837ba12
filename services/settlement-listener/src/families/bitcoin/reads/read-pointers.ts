import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { BlockHeader, ChainReader, Pointer } from "../../../watch/chain-reader.ts";
import { blockQuestion, hashQuestion } from "../node-answers.ts";
import type { Payees } from "../payees.ts";
import { type PayeeOf, paysAny } from "../verify-transaction.ts";
import { askHeaders } from "./read-headers.ts";

/**
 * Reads whole blocks, one after the other, and finds what pays the addresses of links. The last one
 * must be of the node's chain afterwards as well.
 */
export const createReadPointers =
  ({ turn }: Pick<ReaderGround, "turn">, payees: Payees): ChainReader["readPointers"] =>
  async ({ fromBlock, toBlock, headers: given }) => {
    const { payeeOf } = await payees.read();
    return turn.ask("blocks", async (provider) => {
      const endsAt = Math.min(toBlock, fromBlock + provider.range.blocksMax() - 1);
      const headers =
        given?.filter(({ number }) => number >= fromBlock && number <= endsAt) ??
        (await askHeaders(provider, { fromBlock, toBlock: endsAt }));
      const end = headers.at(-1);
      if (end?.number !== endsAt) throw new RpcFault("behind", "a node without the range's end");
      const pointers: Pointer[] = [];
      for (const header of headers)
        pointers.push(...(await askPointers(provider, header, payeeOf)));
      const [again] = await provider.ask([hashQuestion(endsAt)]);
      if (again !== end.hash) throw new RpcFault("behind", "the chain moved while it was read");
      return { pointers, end, readBy: provider.id };
    });
  };

const askPointers = async (
  provider: Provider,
  { hash, number }: BlockHeader,
  payeeOf: PayeeOf,
): Promise<readonly Pointer[]> => {
  const [block] = await provider.ask([blockQuestion(hash)]);
  const { timestampSeconds } = block;
  const place = { blockNumber: number, blockHash: hash, timestampSeconds };
  return block.transactions
    .filter(({ outputs }) => paysAny(outputs, payeeOf))
    .map(({ txid }) => ({ ...place, transactionHash: txid }));
};
