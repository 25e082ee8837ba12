import { type RegisteredHandler, on, onChunk } from "@payment-links/bus";
import {
  accountSnapshot,
  accountUpdated,
  chainAdvanced,
  depositOrphaned,
  depositSeen,
  depositSettled,
  settlementFailed,
  settlementProcessing,
  settlementSettled,
} from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { applySettlements } from "./apply-settlements.ts";
import { saveDeposits } from "./save-deposits.ts";
import { saveAccount } from "./save-account.ts";
import { saveChainProgress } from "./save-chain-progress.ts";

/** Returns the handler for every event type that links-api consumes. */
export const createEventHandlers = (dependencies: Dependencies): readonly RegisteredHandler[] => [
  on(accountUpdated, saveAccount(dependencies)),
  on(accountSnapshot, saveAccount(dependencies)),
  ...onChunk(
    [settlementProcessing, settlementSettled, settlementFailed],
    applySettlements(dependencies),
  ),
  on(chainAdvanced, saveChainProgress(dependencies)),
  ...onChunk([depositSeen, depositSettled, depositOrphaned], saveDeposits(dependencies)),
];
