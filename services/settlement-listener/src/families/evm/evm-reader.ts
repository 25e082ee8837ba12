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

/** Reads an EVM chain: as every chain is read, and what its check against the catalogue asks. */
export type EvmReader = ChainReader<EvmHeader> & Pick<EvmReads, "askContracts" | "readChain">;

/** Turns what EVM nodes say into what a watch is told: logs only point, receipts are verified. */
export const createEvmReader = (
  reads: EvmReads,
  chain: PayableChain,
  payees: Pick<Payees, "count" | "known"> = nobody,
): EvmReader => ({
  ...reads,
  readPointers: async (range) => {
    const { logs, ...read } = await reads.readLogs(range);
    return { ...read, pointers: logs };
  },
  freshBlocksMax: () => planFreshBlocks(payees.count()),
  readReceipts: async (hashes: readonly Hex[]) => {
    const [receipts, isOwner] = await Promise.all([reads.readReceipts(hashes), payees.known()]);
    const paired = [...receipts.values()].map((receipt): Paired => ({
      receipt,
      paired: pairReceipt(receipt, chain),
    }));
    const asked = paired.filter((one) => mayHaveSuffix(one.paired, one.receipt.from, chain));
    const calls = await reads.readCalls(asked.map(({ receipt }) => receipt.transactionHash));
    return new Map(
      paired.map((one): [string, TransactionReceipt] => {
        const { transactionHash } = one.receipt;
        return [transactionHash, judge(one, chain, { isOwner, call: calls.get(transactionHash) })];
      }),
    );
  },
});

const nobody = { count: () => 0, known: async () => () => false };

type Paired = { receipt: EvmReceipt; paired: PairedReceipt };

const judge = (
  { paired, receipt }: Paired,
  chain: PayableChain,
  { isOwner, call }: { isOwner: IsOwner; call: TransactionCall | undefined },
): TransactionReceipt => {
  const { blockHash, blockNumber, from, transactionHash, ...evidence } = receipt;
  const transfers = verifyReceipt(paired, chain, isOwner, call && { ...call, from });
  return { transactionHash, blockNumber, blockHash, sender: from, transfers, evidence };
};
