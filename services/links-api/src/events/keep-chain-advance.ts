import type { EventHandler } from "@payment-links/bus";
import type { chainAdvanced } from "@payment-links/contracts";
import { advanceChain } from "../domain/confirmations.ts";
import { lockChainProgress, upsertChainProgress } from "../store/chain-advances.ts";

/** Keeps how far a chain is, so that payers see how far their payments are. */
export const keepChainAdvance: EventHandler<typeof chainAdvanced> = async (tx, advance) => {
  const progress = advanceChain(await lockChainProgress(tx, advance.chainId), advance);
  if (progress !== undefined) await upsertChainProgress(tx, progress);
};
