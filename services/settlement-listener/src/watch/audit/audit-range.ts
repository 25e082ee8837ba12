import { findReadSpan } from "../../store/read-spans.ts";
import { type Leadership, saveAuditProgress } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { ChainReader } from "@payment-links/chains/chain-reader";
import { findAuditLimit, isVerifierError } from "./find-audit-limit.ts";
import { rereadBlocks, commitMissedTransfers } from "./reread-blocks.ts";

/**
 * Audits the next range of final blocks, and records what the scan missed (rule CHAIN-6). With two
 * or more providers, the provider that the scan read the range from never audits it. The audit
 * waits for another one. Returns the last audited block.
 */
export const auditRange = async (
  watch: WatchContext,
  leadership: Leadership,
  { auditedTo, finalizedTo }: { auditedTo: number; finalizedTo: number },
): Promise<number> => {
  const { chain, reader, verifiers } = watch;
  const fromBlock = auditedTo + 1;
  const { firstProviderId, readTo } = await findFirstReader(watch, fromBlock);
  const toBlock = Math.min(finalizedTo, readTo, auditedTo + chain.settings.rangeBlocksMax);
  const range = { fromBlock, toBlock, finalizedTo };
  // Even a single provider is read again, because it may have lacked logs when the range was new.
  if (verifiers.length === 1) return auditWithReader(watch, leadership, reader, range);
  let firstError: unknown;
  for (const auditVerifier of verifiers.filter(({ id }) => id !== firstProviderId)) {
    try {
      const auditLimit = await findAuditLimit(watch, auditVerifier, range);
      return await auditWithReader(watch, leadership, auditVerifier.reader, {
        ...range,
        toBlock: auditLimit,
      });
    } catch (error) {
      if (!isVerifierError(error)) throw error;
      firstError ??= error;
    }
  }
  throw firstError;
};

type AuditRange = { fromBlock: number; toBlock: number; finalizedTo: number };

const auditWithReader = async (
  watch: WatchContext,
  leadership: Leadership,
  auditReader: ChainReader,
  range: AuditRange,
): Promise<number> => {
  const { chain, log, metrics } = watch;
  const rereadResult = await rereadBlocks(watch, auditReader, range);
  metrics.countAuditDifferences(chain.id, "missing", rereadResult.missing.length);
  metrics.countAuditDifferences(chain.id, "surplus", rereadResult.surplus.length);
  for (const { transactionHash, ordinal } of rereadResult.surplus) {
    const logFields = { chain: chain.id, transaction: transactionHash, ordinal };
    log.error(logFields, "audit did not find a settled payment");
  }
  await commitMissedTransfers(watch, leadership, rereadResult.missing, (tx) =>
    saveAuditProgress(tx, chain.id, rereadResult.endBlock),
  );
  return rereadResult.endBlock;
};

/**
 * Returns which provider the scan read `fromBlock` from, and the last block that it read from the
 * same provider.
 */
const findFirstReader = async (
  { chain, pool, verifiers }: WatchContext,
  fromBlock: number,
): Promise<{ firstProviderId: string | undefined; readTo: number }> => {
  const span = await findReadSpan(pool, chain.id, fromBlock);
  if (span !== undefined && span.fromBlock <= fromBlock) {
    return { firstProviderId: span.provider, readTo: span.toBlock };
  }
  // Earlier releases did not store read spans. They most likely read these blocks from the
  // preferred provider.
  return { firstProviderId: verifiers[0]?.id, readTo: (span?.fromBlock ?? Infinity) - 1 };
};
