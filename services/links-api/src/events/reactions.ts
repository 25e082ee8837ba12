import { type Reaction, on } from "@payment-links/bus";
import {
  accountSnapshot,
  accountUpdated,
  settlementFailed,
  settlementProcessing,
  settlementSettled,
} from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import { applySettlement, findOldSettlements } from "./apply-settlement.ts";
import { keepAccount } from "./keep-account.ts";

/** Every event that links-api hears, with the handler that applies it. */
export const reactions = (deps: Deps): readonly Reaction[] => [
  on(accountUpdated, keepAccount(deps)),
  on(accountSnapshot, keepAccount(deps)),
  on(settlementProcessing, applySettlement(deps), findOldSettlements),
  on(settlementSettled, applySettlement(deps), findOldSettlements),
  on(settlementFailed, applySettlement(deps), findOldSettlements),
];
