import type { EventHandler } from "@payment-links/bus";
import type { chainAdvanced } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { advanceChain } from "../domain/confirmations.ts";
import { lockChainProgress, upsertChainProgress } from "../store/chain-advances.ts";

/** Keeps how far a chain is, so that payers see how far their payments are. */
export const keepChainAdvance =
  ({ clock }: Deps): EventHandler<typeof chainAdvanced> =>
  async (tx, advance) => {
    const now = clock.now();
    const progress = advanceChain(await lockChainProgress(tx, advance.chainId), advance, now);
    if (progress !== undefined) await upsertChainProgress(tx, progress, now);
  };
