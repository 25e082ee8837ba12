import { type ScannedBlock, findBlock } from "../../store/chain-blocks.ts";
import { listDueTransfers } from "../../store/open-transfers.ts";
import { toScannedBlock } from "../chain/to-scanned-block.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { Verifier } from "@payment-links/chains/chain-reader";
import { getDepositFilter } from "../transfers/find-transfers.ts";
import { agreeOnBlock } from "./agree-on-block.ts";

/**
 * Returns the last final block of a sparse chain if it must be stored additionally. This is the
 * case if payments above the newest stored final block are due: a reorg rolls back to a stored
 * block, and must not roll back these payments. The providers that consider the block final must
 * also agree on the last scanned block. Otherwise the payments may have been scanned on another
 * fork.
 */
export const readAnchor = async (
  watch: WatchContext,
  {
    ableVerifiers,
    finalizedBlock,
    storedBlockNumber,
    scannedTo,
  }: {
    ableVerifiers: readonly Verifier[];
    finalizedBlock: number;
    storedBlockNumber: number;
    scannedTo: number;
  },
): Promise<ScannedBlock | undefined> => {
  const { chain, pool, reader } = watch;
  if (chain.settings.isSparse !== true || storedBlockNumber >= finalizedBlock) return undefined;
  const after = { blockNumber: storedBlockNumber + 1, seq: "0" };
  const dueQuery = { toBlock: finalizedBlock, after, countMax: 1, ...getDepositFilter(chain) };
  const dueTransfers = await listDueTransfers(pool, chain.id, dueQuery);
  if (dueTransfers.length === 0) return undefined;
  const scannedBlock = await findBlock(pool, chain.id, scannedTo);
  const tipAgreement = await agreeOnBlock(watch, scannedTo, ableVerifiers);
  if (tipAgreement.hash === undefined || tipAgreement.hash !== scannedBlock?.hash) return undefined;
  const [header] = await reader.readHeaders({ fromBlock: finalizedBlock, toBlock: finalizedBlock });
  const { hash } = await agreeOnBlock(watch, finalizedBlock, ableVerifiers);
  return header === undefined || header.hash !== hash ? undefined : toScannedBlock(header);
};
