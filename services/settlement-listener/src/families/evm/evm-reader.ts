import type { Hex } from "viem";
import type { ChainReader, TransactionReceipt } from "../../watch/chain-reader.ts";
import type { EvmHeader, EvmReads, EvmReceipt, TransactionCall } from "./evm-reads.ts";
import type { Payees } from "./reads/payees.ts";
import { planFreshBlocks } from "./reads/plan-deposit-logs.ts";
import {
  type IsOwner,
  type PairedReceipt,
  type PayableChain,
  mayHaveSuffix,
  pairReceipt,
  verifyReceipt,
} from "./verify-receipt.ts";

/** A `ChainReader` for an EVM chain, with additional reads for the catalogue check. */
export type EvmReader = ChainReader<EvmHeader> & Pick<EvmReads, "queryContracts" | "readChain">;

/**
 * Creates a chain reader from the reads of EVM nodes. Logs only point to transactions, whose
 * receipts are then verified.
 */
export const createEvmReader = (
  reads: EvmReads,
  chain: PayableChain,
  payees: Pick<Payees, "count" | "readIsOwner"> = noPayees,
): EvmReader => ({
  ...reads,
  readPointers: async (range) => {
    const { logs, ...result } = await reads.readLogs(range);
    return { ...result, pointers: logs };
  },
  freshBlocksMax: () => planFreshBlocks(payees.count()),
  readReceipts: async (hashes: readonly Hex[]) => {
    const [receipts, isOwner] = await Promise.all([
      reads.readReceipts(hashes),
      payees.readIsOwner(),
    ]);
    const pairedReceipts = [...receipts.values()].map((receipt): ReceiptWithPairs => ({
      receipt,
      pairs: pairReceipt(receipt, chain),
    }));
    const suffixCandidates = pairedReceipts.filter((entry) =>
      mayHaveSuffix(entry.pairs, entry.receipt.from, chain),
    );
    const calls = await reads.readCalls(
      suffixCandidates.map(({ receipt }) => receipt.transactionHash),
    );
    return new Map(
      pairedReceipts.map((entry): [string, TransactionReceipt] => {
        const { transactionHash } = entry.receipt;
        return [
          transactionHash,
          toTransactionReceipt(entry, chain, { isOwner, call: calls.get(transactionHash) }),
        ];
      }),
    );
  },
});

const noPayees = { count: () => 0, readIsOwner: async () => () => false };

type ReceiptWithPairs = { receipt: EvmReceipt; pairs: PairedReceipt };

const toTransactionReceipt = (
  { pairs, receipt }: ReceiptWithPairs,
  chain: PayableChain,
  { isOwner, call }: { isOwner: IsOwner; call: TransactionCall | undefined },
): TransactionReceipt => {
  const { blockHash, blockNumber, from, transactionHash, ...evidence } = receipt;
  const transfers = verifyReceipt(pairs, chain, isOwner, call && { ...call, from });
  return { transactionHash, blockNumber, blockHash, sender: from, transfers, evidence };
};
