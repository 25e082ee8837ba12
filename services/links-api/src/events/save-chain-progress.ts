import type { EventHandler } from "@payment-links/bus";
import type { chainAdvanced } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { updateChainProgress } from "../domain/confirmations.ts";
import { lockChainProgress, upsertChainProgress } from "../store/chain-progress.ts";

/** Stores a chain's progress so that payers can see the confirmations of their payments. */
export const saveChainProgress =
  ({ clock }: Dependencies): EventHandler<typeof chainAdvanced> =>
  async (tx, chainAdvance) => {
    const now = clock.now();
    const progress = updateChainProgress(
      await lockChainProgress(tx, chainAdvance.chainId),
      chainAdvance,
      now,
    );
    if (progress !== undefined) await upsertChainProgress(tx, progress, now);
  };
