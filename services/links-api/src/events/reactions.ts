import { type Reaction, on, onTogether } from "@payment-links/bus";
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
import type { Deps } from "../deps.ts";
import { applySettlements } from "./apply-settlements.ts";
import { keepDeposits } from "./keep-deposits.ts";
import { keepAccount } from "./keep-account.ts";
import { keepChainAdvance } from "./keep-chain-advance.ts";

/** Every event that links-api hears, with the handler that applies it. */
export const reactions = (deps: Deps): readonly Reaction[] => [
  on(accountUpdated, keepAccount(deps)),
  on(accountSnapshot, keepAccount(deps)),
  ...onTogether(
    [settlementProcessing, settlementSettled, settlementFailed],
    applySettlements(deps),
  ),
  on(chainAdvanced, keepChainAdvance(deps)),
  ...onTogether([depositSeen, depositSettled, depositOrphaned], keepDeposits(deps)),
];
