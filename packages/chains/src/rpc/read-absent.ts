import type { SeenTransaction } from "../reads/chain-reader.ts";
import { type RpcRequest, orFault } from "./json-rpc.ts";
import type { Provider } from "./provider.ts";
import type { ProviderFailover } from "./provider-failover.ts";

type AbsenceQuery = {
  seenTransactions: readonly SeenTransaction[];
  /**
   * Returns requests to which only a node with the whole range answers true: the node still has the
   * oldest transactions and has reached the newest block. Undefined if the node cannot prove this.
   */
  findProofs: (provider: Provider) => Promise<readonly RpcRequest<boolean>[] | undefined>;
  /** Creates the request for a transaction. The result is null if the node does not know it. */
  createTransactionRequest: (transactionHash: string) => RpcRequest;
  /** Creates the requests for the block in which a transaction was seen. */
  createBlockRequests: (blockNumber: number) => readonly RpcRequest[];
  /**
   * Returns whether the results prove that the transaction's block is not canonical or does not
   * contain the transaction. A result is an `RpcFault` if its request failed.
   */
  isAbsent: (seenTransaction: SeenTransaction, results: readonly unknown[]) => boolean;
};

/**
 * Returns whether a block is not the one in which a transaction was seen, or does not contain it.
 */
export const isAbsentFromBlock = (
  seenTransaction: SeenTransaction,
  block: { hash: string; transactionHashes: readonly string[] },
): boolean =>
  block.hash !== seenTransaction.blockHash ||
  !block.transactionHashes.includes(seenTransaction.transactionHash);

/**
 * The maximum number of transactions per request. The request also contains a block for each of
 * them.
 */
const transactionsPerRequestMax = 8;

/**
 * Returns the hashes of the transactions that are in no canonical block of a range. A node that
 * lags or has pruned its history returns null for existing transactions too, so it must prove that
 * it has the whole range. The proofs, the blocks and the transactions are in one request, because
 * several nodes can share a URL.
 */
export const readAbsent = (
  failover: ProviderFailover,
  {
    createBlockRequests,
    findProofs,
    isAbsent,
    seenTransactions,
    createTransactionRequest,
  }: AbsenceQuery,
): Promise<ReadonlySet<string>> =>
  failover.run("absent transactions", async (provider) => {
    const absent = new Set<string>();
    const proofs = await findProofs(provider);
    if (proofs === undefined) return absent;
    for (let offset = 0; offset < seenTransactions.length; offset += transactionsPerRequestMax) {
      const batch = seenTransactions.slice(offset, offset + transactionsPerRequestMax);
      const blockNumbers = [...new Set(batch.map(({ blockNumber }) => blockNumber))];
      const requestGroups = [
        proofs,
        batch.map(({ transactionHash }) => createTransactionRequest(transactionHash)),
        ...blockNumbers.map(createBlockRequests),
      ];
      const results = [...(await provider.request(requestGroups.flat().map(orFault)))];
      const [proofResults, transactionResults, ...blockResultGroups] = requestGroups.map(
        ({ length }) => results.splice(0, length),
      );
      if (!proofResults?.every((proofResult) => proofResult === true)) continue;
      for (const [index, seenTransaction] of batch.entries()) {
        const isUnknown = transactionResults?.[index] === null;
        const blockResults =
          blockResultGroups[blockNumbers.indexOf(seenTransaction.blockNumber)] ?? [];
        if (isUnknown && isAbsent(seenTransaction, blockResults))
          absent.add(seenTransaction.transactionHash);
      }
    }
    return absent;
  });
