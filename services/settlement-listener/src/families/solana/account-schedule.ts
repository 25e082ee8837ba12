import { setImmediate } from "node:timers/promises";
import { deriveAssociatedTokenAccount } from "@payment-links/contracts";
import type { Owners } from "../../watch/chain/owners.ts";
import { type SolanaChain, getTokenProgram } from "./solana-chain.ts";

/** A token account, and the first slot from which its transactions are requested. */
export type DueAccount = { account: string; sinceSlot: number };

/** An account that was requested, and the slot up to which it was read. */
type ReadAccount = DueAccount & { readTo: number };

type Range = { fromBlock: number; toBlock: number };

/** Decides when each of the owners' token accounts is read. */
export type AccountSchedule = {
  /** Returns the accounts that are due in a range of slots. */
  listDue(range: Range): Promise<readonly DueAccount[]>;
  /**
   * Returns all accounts for the audit. Each starts as far back as the scan may have looked in this
   * range or a later one. The scan relied on a single provider.
   */
  listAll(fromBlock: number): Promise<readonly DueAccount[]>;
  /**
   * Records how far the due accounts were read for a range, which is committed next. An account
   * that was not read to the end stays due.
   */
  recordReads(read: readonly ReadAccount[], range: Range): void;
};

/**
 * The ranks up to which accounts are due in every step and every 20 s. The rest are due every half
 * hour. Owners at whose address a payment has settled have their own tier, because anyone can
 * create an account and a link.
 */
const provenOwnerTier = { everyStepMax: 70, frequentMax: 700 };
const otherOwnerTier = { everyStepMax: 30, frequentMax: 300 };
const frequentPeriodSlots = 50;
const rarePeriodSlots = 4_500;
/** How far back to read an account that this process has not read before: an hour. */
const lookBackSlots = 9_000;

/**
 * Schedules the owners' associated token accounts, one per catalogue token. An account that was not
 * due continues where its last read ended, so that no slot is left out. If that is unknown, or may
 * not have been committed, it starts an hour back.
 */
export const createAccountSchedule = (
  { tokens }: Pick<SolanaChain, "tokens">,
  owners: Pick<Owners, "readByLatestLink">,
): AccountSchedule => {
  const lastRequests = new Map<string, { readTo: number; rangeEnd: number }>();
  /** The end of the last range for which an account was read from before the range's start. */
  const lastLookBackEnd = new Map<string, number>();
  const listAccounts = createListAccounts(tokens);
  return {
    listDue: async (range) => {
      // If a range is read again, earlier results for it may not have been committed.
      for (const [account, { rangeEnd }] of lastRequests) {
        if (rangeEnd >= range.fromBlock) lastRequests.delete(account);
      }
      const ranked = await owners.readByLatestLink();
      const tiers = Map.groupBy(ranked, ({ isProven }) => isProven);
      const due: DueAccount[] = [];
      for (const [isProven, tierOwners] of tiers) {
        const tier = isProven ? provenOwnerTier : otherOwnerTier;
        for (const [rank, account] of (await listAccounts(tierOwners)).entries()) {
          const lastRequest = lastRequests.get(account);
          const isNew = lastRequest === undefined && rank < tier.frequentMax;
          const isBehind = lastRequest !== undefined && lastRequest.readTo < lastRequest.rangeEnd;
          if (!isNew && !isBehind && !isDue(account, choosePeriod(rank, tier), range)) continue;
          const sinceSlot =
            lastRequest === undefined ? subtractLookBack(range.fromBlock) : lastRequest.readTo + 1;
          due.push({ account, sinceSlot });
        }
      }
      return due;
    },
    listAll: async (fromBlock) =>
      (await listAccounts(await owners.readByLatestLink())).map((account) => {
        const isCovered = (lastLookBackEnd.get(account) ?? Infinity) < fromBlock;
        return { account, sinceSlot: isCovered ? fromBlock : subtractLookBack(fromBlock) };
      }),
    recordReads: (read, { fromBlock, toBlock }) => {
      for (const { account, readTo, sinceSlot } of read) {
        lastRequests.set(account, { readTo, rangeEnd: toBlock });
        if (sinceSlot < fromBlock) lastLookBackEnd.set(account, toBlock);
      }
    },
  };
};

const subtractLookBack = (slot: number): number => Math.max(0, slot - lookBackSlots);

/** Creates a function that lists the accounts of owners. Each account is derived once. */
const createListAccounts = (tokens: SolanaChain["tokens"]) => {
  const accountsByOwner = new Map<string, readonly string[]>();
  return async (owners: readonly { address: string }[]): Promise<readonly string[]> => {
    for (const { address: owner } of owners) {
      if (accountsByOwner.has(owner)) continue;
      const ownerAccounts = [...tokens].map(([mint, token]) =>
        deriveAssociatedTokenAccount({ owner, mint, program: getTokenProgram(token) }),
      );
      accountsByOwner.set(owner, ownerAccounts);
      // Each derivation takes about 1 ms, and there may be thousands at the start.
      await setImmediate();
    }
    return owners.flatMap(({ address }) => accountsByOwner.get(address) ?? []);
  };
};

const choosePeriod = (
  rank: number,
  { everyStepMax, frequentMax }: { everyStepMax: number; frequentMax: number },
): number => {
  if (rank < everyStepMax) return 1;
  return rank < frequentMax ? frequentPeriodSlots : rarePeriodSlots;
};

/** Returns whether a range contains the account's own slot of its period. */
const isDue = (account: string, period: number, { fromBlock, toBlock }: Range): boolean => {
  const phase = computePhase(account) % period;
  const countTurns = (slot: number) => Math.floor((slot - phase) / period);
  return countTurns(toBlock) > countTurns(fromBlock - 1);
};

/** Returns a stable number that spreads accounts over a period. */
const computePhase = (account: string): number => {
  let phase = 0;
  for (const character of account)
    phase = (phase * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return phase;
};
