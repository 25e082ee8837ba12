import { setImmediate } from "node:timers/promises";
import { solanaTokenAccount } from "@payment-links/contracts";
import type { Owners } from "../../watch/chain/owners.ts";
import { type SolanaChain, programOf } from "./solana-chain.ts";

/** A token account, and the slot from which on its transactions are asked for. */
export type DueAccount = { account: string; since: number };

/** An account that was asked for, and the slot up to which it was read. */
type ReadAccount = DueAccount & { reachedTo: number };

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
  asked(read: readonly ReadAccount[], range: Range): void;
};

/**
 * So many accounts are asked for in each step, so many more every 20 s, and the rest every half hour:
 * counted by itself for owners at whose address a payment has settled, and for all others. Anybody can make
 * an account and a link.
 */
const ofProven = { alwaysMax: 70, oftenMax: 700 };
const ofOthers = { alwaysMax: 30, oftenMax: 300 };
const oftenSlots = 50;
const seldomSlots = 4_500;
/** How far back an account is read that this process has not asked for: an hour. */
const lookBackSlots = 9_000;

/**
 * Schedules the owners' usual token accounts, one for each token of the catalogue. An account that was
 * not due is asked from where it was asked last, so that none of its slots is left out; where that is
 * not known, or may not have been committed, from an hour back.
 */
export const createAccountSchedule = (
  { tokens }: Pick<SolanaChain, "tokens">,
  owners: Pick<Owners, "readByHearing">,
): AccountSchedule => {
  const lastAsked = new Map<string, { readTo: number; endedAt: number }>();
  /** The end of the last range in which an account was asked for from before that range. */
  const lastLookBack = new Map<string, number>();
  const accountsOf = createAccountsOf(tokens);
  return {
    listDue: async (range) => {
      // A range that is read again says that what was asked in it may not have been committed.
      for (const [account, { endedAt }] of lastAsked) {
        if (endedAt >= range.fromBlock) lastAsked.delete(account);
      }
      const ranked = await owners.readByHearing();
      const tiers = Map.groupBy(ranked, ({ isProven }) => isProven);
      const due: DueAccount[] = [];
      for (const [isProven, some] of tiers) {
        const tier = isProven ? ofProven : ofOthers;
        for (const [rank, account] of (await accountsOf(some)).entries()) {
          const last = lastAsked.get(account);
          const isNew = last === undefined && rank < tier.oftenMax;
          const isBehind = last !== undefined && last.readTo < last.endedAt;
          if (!isNew && !isBehind && !isDue(account, periodOf(rank, tier), range)) continue;
          const since = last === undefined ? lookBackFrom(range.fromBlock) : last.readTo + 1;
          due.push({ account, since });
        }
      }
      return due;
    },
    listAll: async (fromBlock) =>
      (await accountsOf(await owners.readByHearing())).map((account) => {
        const isCovered = (lastLookBack.get(account) ?? Infinity) < fromBlock;
        return { account, since: isCovered ? fromBlock : lookBackFrom(fromBlock) };
      }),
    asked: (read, { fromBlock, toBlock }) => {
      for (const { account, reachedTo, since } of read) {
        lastAsked.set(account, { readTo: reachedTo, endedAt: toBlock });
        if (since < fromBlock) lastLookBack.set(account, toBlock);
      }
    },
  };
};

const lookBackFrom = (slot: number): number => Math.max(0, slot - lookBackSlots);

/** The accounts of owners, derived once. */
const createAccountsOf = (tokens: SolanaChain["tokens"]) => {
  const known = new Map<string, readonly string[]>();
  return async (owners: readonly { address: string }[]): Promise<readonly string[]> => {
    for (const { address: owner } of owners) {
      if (known.has(owner)) continue;
      const ofOwner = [...tokens].map(([mint, token]) =>
        solanaTokenAccount({ owner, mint, program: programOf(token) }),
      );
      known.set(owner, ofOwner);
      // Each takes about a millisecond, and there may be thousands at the start.
      await setImmediate();
    }
    return owners.flatMap(({ address }) => known.get(address) ?? []);
  };
};

const periodOf = (
  rank: number,
  { alwaysMax, oftenMax }: { alwaysMax: number; oftenMax: number },
): number => {
  if (rank < alwaysMax) return 1;
  return rank < oftenMax ? oftenSlots : seldomSlots;
};

/** Whether a range holds a slot that is the account's own within its period. */
const isDue = (account: string, period: number, { fromBlock, toBlock }: Range): boolean => {
  const phase = phaseOf(account) % period;
  const turnOf = (slot: number) => Math.floor((slot - phase) / period);
  return turnOf(toBlock) > turnOf(fromBlock - 1);
};

/** A number that spreads accounts over a period, and stays. */
const phaseOf = (account: string): number => {
  let phase = 0;
  for (const character of account)
    phase = (phase * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return phase;
};
