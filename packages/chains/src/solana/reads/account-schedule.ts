import { setImmediate } from "node:timers/promises";
import { deriveAssociatedTokenAccount, getTokenProgram } from "../token-account.ts";
import type { Owners } from "../../reads/watched-chain.ts";
import type { SolanaChain } from "./solana-chain.ts";

/** A token account, and the first slot from which its transactions are requested. */
export type DueAccount = { account: string; sinceSlot: number };

/** An account that was requested, and the slot up to which it was read. */
type ReadAccount = DueAccount & { readTo: number };

type Range = { fromBlock: number; toBlock: number };

/** Decides when to read each of the owners' token accounts. */
export type AccountSchedule = {
  /** Returns the accounts that are due in a range of slots. */
  listDue(range: Range): Promise<readonly DueAccount[]>;
  /**
   * Returns all accounts for the audit. The scan relied on a single provider, so each account is
   * read as far back as the scan may have read it for this range or a later one.
   */
  listAll(fromBlock: number): Promise<readonly DueAccount[]>;
  /**
   * Records how far the due accounts were read for a range. The range is committed afterwards. An
   * account that was not read to the end stays due.
   */
  recordReads(read: readonly ReadAccount[], range: Range): void;
};

/**
 * The number of accounts, by rank, that are read in every step and every 20 s. The others are read
 * every half hour. Anyone can create an account and a link, so owners whose address has received a
 * settled payment have a tier of their own.
 */
const provenOwnerTier = { everyStepMax: 70, frequentMax: 700 };
const otherOwnerTier = { everyStepMax: 30, frequentMax: 300 };
const frequentPeriodSlots = 50;
const rarePeriodSlots = 4_500;
/** How far back to read an account that this process has not read before: one hour. */
const lookBackSlots = 9_000;

/**
 * Schedules the owners' associated token accounts, one per catalogue token. Each read of an account
 * continues where its previous read ended, so no slot is skipped. If that position is unknown or
 * may not have been committed, the read starts one hour back.
 */
export const createAccountSchedule = (
  { tokens }: Pick<SolanaChain, "tokens">,
  owners: Pick<Owners, "readByLatestLink">,
): AccountSchedule => {
  const lastRequests = new Map<string, { readTo: number; rangeEnd: number }>();
  /** For each account, the end of the last range whose read of it started before the range. */
  const lastLookBackEnd = new Map<string, number>();
  const listAccounts = createListAccounts(tokens);
  return {
    listDue: async (range) => {
      // If a range is read a second time, the results of the first read may not have been
      // committed.
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

/** Creates a function that lists the accounts of owners. Each address is derived only once. */
const createListAccounts = (tokens: SolanaChain["tokens"]) => {
  const accountsByOwner = new Map<string, readonly string[]>();
  return async (owners: readonly { address: string }[]): Promise<readonly string[]> => {
    for (const { address: owner } of owners) {
      if (accountsByOwner.has(owner)) continue;
      const ownerAccounts = [...tokens].map(([mint, token]) =>
        deriveAssociatedTokenAccount({ owner, mint, program: getTokenProgram(token) }),
      );
      accountsByOwner.set(owner, ownerAccounts);
      // Each derivation takes about 1 ms, and there can be thousands of them at the start.
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

/**
 * Returns whether a range contains the slot in which the account is due. Each account has one such
 * slot per period.
 */
const isDue = (account: string, period: number, { fromBlock, toBlock }: Range): boolean => {
  const phase = computePhase(account) % period;
  const countTurns = (slot: number) => Math.floor((slot - phase) / period);
  return countTurns(toBlock) > countTurns(fromBlock - 1);
};

/** Returns a number that is stable per account and spreads the accounts over a period. */
const computePhase = (account: string): number => {
  let phase = 0;
  for (const character of account)
    phase = (phase * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return phase;
};
