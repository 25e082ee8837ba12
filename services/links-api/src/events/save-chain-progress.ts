import type { EventHandler } from "@payment-links/bus";
import type { chainAdvanced } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { updateChainProgress } from "../domain/confirmations.ts";
import { lockChainProgress, upsertChainProgress } from "../store/chain-progress.ts";

/** Keeps how far a chain is, so that payers see how far their payments are. */
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
