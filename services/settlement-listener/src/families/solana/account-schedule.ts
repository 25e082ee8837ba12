import { setImmediate } from "node:timers/promises";
import { deriveAssociatedTokenAccount } from "@payment-links/contracts";
import type { Owners } from "../../watch/chain/owners.ts";
import { type SolanaChain, getTokenProgram } from "./solana-chain.ts";

/** A token account, and the slot from which on its transactions are asked for. */
export type DueAccount = { account: string; sinceSlot: number };

/** An account that was asked for, and the slot up to which it was read. */
type ReadAccount = DueAccount & { readTo: number };

type Range = { fromBlock: number; toBlock: number };

/** When which of the owners' token accounts is asked for. */
export type AccountSchedule = {
  /** Those that are due in a range of slots. */
  listDue(range: Range): Promise<readonly DueAccount[]>;
  /**
   * All of them, for the second pass: as far back as the first pass may have looked in this range or a
   * later one, as one provider alone has told it that.
   */
  listAll(fromBlock: number): Promise<readonly DueAccount[]>;
  /**
   * Says that those due have been read over a range, which is committed next. One that was not read to
   * its end stays due.
   */
  recordReads(read: readonly ReadAccount[], range: Range): void;
};

/**
 * So many accounts are asked for in each step, so many more every 20 s, and the rest every half hour:
 * counted by itself for owners at whose address a payment has settled, and for all others. Anybody can make
 * an account and a link.
 */
const provenOwnerTier = { everyStepMax: 70, frequentMax: 700 };
const otherOwnerTier = { everyStepMax: 30, frequentMax: 300 };
const frequentPeriodSlots = 50;
const rarePeriodSlots = 4_500;
/** How far back an account is read that this process has not asked for: an hour. */
const lookBackSlots = 9_000;

/**
 * Schedules the owners' usual token accounts, one for each token of the catalogue. An account that was
 * not due is asked from where it was asked last, so that none of its slots is left out; where that is
 * not known, or may not have been committed, from an hour back.
 */
export const createAccountSchedule = (
  { tokens }: Pick<SolanaChain, "tokens">,
  owners: Pick<Owners, "readByLatestLink">,
): AccountSchedule => {
  const lastRequests = new Map<string, { readTo: number; rangeEnd: number }>();
  /** The end of the last range in which an account was asked for from before that range. */
  const lastLookBackEnd = new Map<string, number>();
  const listAccounts = createListAccounts(tokens);
  return {
    listDue: async (range) => {
      // A range that is read again says that what was asked in it may not have been committed.
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

/** The accounts of owners, derived once. */
const createListAccounts = (tokens: SolanaChain["tokens"]) => {
  const accountsByOwner = new Map<string, readonly string[]>();
  return async (owners: readonly { address: string }[]): Promise<readonly string[]> => {
    for (const { address: owner } of owners) {
      if (accountsByOwner.has(owner)) continue;
      const ownerAccounts = [...tokens].map(([mint, token]) =>
        deriveAssociatedTokenAccount({ owner, mint, program: getTokenProgram(token) }),
      );
      accountsByOwner.set(owner, ownerAccounts);
      // Each takes about a millisecond, and there may be thousands at the start.
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

/** Whether a range holds a slot that is the account's own within its period. */
const isDue = (account: string, period: number, { fromBlock, toBlock }: Range): boolean => {
  const phase = computePhase(account) % period;
  const countTurns = (slot: number) => Math.floor((slot - phase) / period);
  return countTurns(toBlock) > countTurns(fromBlock - 1);
};

/** A number that spreads accounts over a period, and stays. */
const computePhase = (account: string): number => {
  let phase = 0;
  for (const character of account)
    phase = (phase * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return phase;
};
