import type { ScannedBlock } from "../../store/chain-blocks.ts";
import type { BlockHeader } from "@payment-links/chains/chain-reader";

/** Converts Unix seconds to a date. */
export const toDate = (timestampSeconds: number): Date => new Date(timestampSeconds * 1000);

/** Converts a header to a block to store. */
export const toScannedBlock = ({
  number,
  hash,
  parentHash,
  timestampSeconds,
}: BlockHeader): ScannedBlock => ({
  number,
  hash,
  parentHash,
  minedAt: toDate(timestampSeconds),
});
