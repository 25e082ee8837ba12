import type { ScannedBlock } from "../../store/chain-blocks.ts";
import type { BlockHeader } from "../chain-reader.ts";

/** Unix seconds as an instant. */
export const toDate = (timestampSeconds: number): Date => new Date(timestampSeconds * 1000);

/** A header as it is stored. */
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
