import { describe, expect, test } from "@jest/globals";
import { openCatalogue } from "@payment-links/contracts";
import { freshAddress } from "../../testing/solana/open-solana-chain.ts";
import {
  type AccountSchedule,
  type DueAccount,
  createAccountSchedule,
} from "./account-schedule.ts";
import { solanaChainOf } from "./solana-chain.ts";

const catalogue = openCatalogue();
const solana = catalogue.chains.find(({ id }) => id === "solana-devnet");
if (solana === undefined) throw new Error("the catalogue has no Solana");
const chain = solanaChainOf(catalogue, solana);
const tokenCount = chain.tokens.size;
const stepSlots = 5;

const unproven = (addresses: readonly string[]) =>
  addresses.map((address) => ({ address, isProven: false }));

/** Says that what was due has been read to the end of its range. */
const readAll = (
  schedule: AccountSchedule,
  due: readonly DueAccount[],
  range: { fromBlock: number; toBlock: number },
): void => {
  schedule.asked(
    due.map((one) => ({ ...one, reachedTo: range.toBlock })),
    range,
  );
};

/** Walks over slots as the first pass does, and answers how many accounts each step asked for. */
const walk = async (
  ownerCount: number,
  { steps, from = 1_000_000 }: { steps: number; from?: number },
) => {
  const owners = Array.from({ length: ownerCount }, freshAddress);
  const schedule = createAccountSchedule(chain, { readByHearing: async () => unproven(owners) });
  const covered = new Map<string, number>();
  const counts: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    const fromBlock = from + step * stepSlots;
    const range = { fromBlock, toBlock: fromBlock + stepSlots - 1 };
    const due = await schedule.listDue(range);
    for (const { account, since } of due) {
      // No slot is left out between two questions for one account.
      expect(since).toBeLessThanOrEqual((covered.get(account) ?? since) + 1);
      covered.set(account, range.toBlock);
    }
    readAll(schedule, due, range);
    counts.push(due.length);
  }
  return { counts, covered };
};

describe("the schedule of accounts", () => {
  test("asks for few owners' accounts in each step", async () => {
    const { counts } = await walk(3, { steps: 4 });
    expect(counts).toEqual(Array.from({ length: 4 }, () => 3 * tokenCount));
  });

  test("asks for many in turns: none is left out, and a step asks for a bounded share", async () => {
    const ownerCount = 1_500;
    const { counts, covered } = await walk(ownerCount, { steps: 900 + 1 });
    expect(covered.size).toBe(ownerCount * tokenCount);
    const later = counts.slice(1);
    expect(Math.max(...later)).toBeLessThan(350);
  });

  test("reads an account from an hour back where a range is read again", async () => {
    const owners = [freshAddress()];
    const schedule = createAccountSchedule(chain, { readByHearing: async () => unproven(owners) });
    const range = { fromBlock: 50_000, toBlock: 50_004 };
    readAll(schedule, await schedule.listDue(range), range);
    const [next] = await schedule.listDue({ fromBlock: 50_005, toBlock: 50_009 });
    expect(next?.since).toBe(50_005);
    const [again] = await schedule.listDue(range);
    expect(again?.since).toBe(41_000);
  });

  /** From which slot on each account is asked for, from a range on that is read again for two minutes. */
  const coverAgain = async (schedule: ReturnType<typeof createAccountSchedule>) => {
    const covered = new Map<string, number>();
    let range = { fromBlock: 50_000, toBlock: 50_006 };
    for (let step = 0; step < 60; step += 1) {
      const due = await schedule.listDue(range);
      for (const { account, since } of due) {
        covered.set(account, Math.min(since, covered.get(account) ?? Infinity));
      }
      readAll(schedule, due, range);
      range = { fromBlock: range.toBlock + 1, toBlock: range.toBlock + stepSlots };
    }
    return [...covered.values()];
  };
  const lost = { fromBlock: 50_000, toBlock: 50_004 };

  test("leaves no slot out for who is not due when a range is read again that was not committed", async () => {
    // More accounts than each step asks for.
    const owners = Array.from({ length: 60 }, freshAddress);
    const schedule = createAccountSchedule(chain, { readByHearing: async () => unproven(owners) });
    const due = await schedule.listDue(lost);
    readAll(schedule, due, lost);
    const since = await coverAgain(schedule);
    expect(since).toHaveLength(due.length);
    expect(since.filter((slot) => slot > lost.fromBlock)).toEqual([]);
  });

  test("nor for who was heard of less lately meanwhile", async () => {
    let owners = Array.from({ length: 60 }, freshAddress);
    const schedule = createAccountSchedule(chain, { readByHearing: async () => unproven(owners) });
    const before = { fromBlock: 49_995, toBlock: 49_999 };
    for (const range of [before, lost]) readAll(schedule, await schedule.listDue(range), range);
    owners = [...owners.slice(30), ...owners.slice(0, 30)];
    const since = await coverAgain(schedule);
    expect(since.filter((slot) => slot > lost.fromBlock)).toEqual([]);
  });

  test("has the second pass look as far back as the first one did, once", async () => {
    const owners = [freshAddress()];
    const schedule = createAccountSchedule(chain, { readByHearing: async () => unproven(owners) });
    const sinceOf = async (fromBlock: number) => (await schedule.listAll(fromBlock))[0]?.since;
    expect(await sinceOf(50_000)).toBe(41_000);
    const range = { fromBlock: 50_000, toBlock: 50_004 };
    readAll(schedule, await schedule.listDue(range), range);
    const next = { fromBlock: 50_005, toBlock: 50_009 };
    readAll(schedule, await schedule.listDue(next), next);
    expect(await sinceOf(49_000)).toBe(40_000);
    expect(await sinceOf(50_004)).toBe(41_004);
    expect(await sinceOf(50_005)).toBe(50_005);
  });

  test("asks for an account again until it was read to the end of its range", async () => {
    const owners = [freshAddress()];
    const schedule = createAccountSchedule(chain, { readByHearing: async () => unproven(owners) });
    const range = { fromBlock: 50_000, toBlock: 50_004 };
    const due = await schedule.listDue(range);
    schedule.asked(
      due.map((one) => ({ ...one, reachedTo: 45_000 })),
      range,
    );
    const [next] = await schedule.listDue({ fromBlock: 50_005, toBlock: 50_009 });
    expect(next?.since).toBe(45_001);
    // What was read in a range that is read again may not have been committed.
    const [again] = await schedule.listDue(range);
    expect(again?.since).toBe(41_000);
  });

  test("asks for an owner who was paid in every step, whatever strangers do", async () => {
    const merchant = freshAddress();
    const strangers = Array.from({ length: 2_000 }, freshAddress);
    const readByHearing = async () => [
      ...unproven(strangers),
      { address: merchant, isProven: true },
    ];
    const schedule = createAccountSchedule(chain, { readByHearing });
    const accounts = await createAccountSchedule(chain, {
      readByHearing: async () => unproven([merchant]),
    }).listAll(0);
    for (let step = 0; step < 20; step += 1) {
      const range = { fromBlock: 1_000 + step * 5, toBlock: 1_004 + step * 5 };
      const due = await schedule.listDue(range);
      const names = due.map(({ account }) => account);
      for (const { account } of accounts) expect(names).toContain(account);
      readAll(schedule, due, range);
    }
  });
});
