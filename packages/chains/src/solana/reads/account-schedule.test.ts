import { describe, expect, test } from "@jest/globals";
import { loadCatalogue } from "@payment-links/contracts";
import { freshAddress } from "@payment-links/local-chains/solana/start-solana-chain";
import {
  type AccountSchedule,
  type DueAccount,
  createAccountSchedule,
} from "./account-schedule.ts";
import { toSolanaChain } from "./solana-chain.ts";

const catalogue = loadCatalogue();
const catalogueChain = catalogue.chains.find(({ id }) => id === "solana-devnet");
if (catalogueChain === undefined) throw new Error("the catalogue has no Solana");
const chain = toSolanaChain(catalogue, catalogueChain);
const tokenCount = chain.tokens.size;
const stepSlots = 5;

const toUnprovenOwners = (addresses: readonly string[]) =>
  addresses.map((address) => ({ address, isProven: false }));

/** Records that all due accounts were read to the end of the range. */
const recordAllRead = (
  schedule: AccountSchedule,
  due: readonly DueAccount[],
  range: { fromBlock: number; toBlock: number },
): void => {
  schedule.recordReads(
    due.map((dueAccount) => ({ ...dueAccount, readTo: range.toBlock })),
    range,
  );
};

/** Advances over the slots like the scan does. Returns how many accounts each step requested. */
const runSchedule = async (
  ownerCount: number,
  { steps, firstSlot = 1_000_000 }: { steps: number; firstSlot?: number },
) => {
  const owners = Array.from({ length: ownerCount }, freshAddress);
  const schedule = createAccountSchedule(chain, {
    readByLatestLink: async () => toUnprovenOwners(owners),
  });
  const coveredTo = new Map<string, number>();
  const counts: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    const fromBlock = firstSlot + step * stepSlots;
    const range = { fromBlock, toBlock: fromBlock + stepSlots - 1 };
    const due = await schedule.listDue(range);
    for (const { account, sinceSlot } of due) {
      // Each read starts at or before the slot after the previous read, so no slot is skipped.
      expect(sinceSlot).toBeLessThanOrEqual((coveredTo.get(account) ?? sinceSlot) + 1);
      coveredTo.set(account, range.toBlock);
    }
    recordAllRead(schedule, due, range);
    counts.push(due.length);
  }
  return { counts, coveredTo };
};

describe("createAccountSchedule", () => {
  test("lists all accounts in each step if there are few owners", async () => {
    const { counts } = await runSchedule(3, { steps: 4 });
    expect(counts).toEqual(Array.from({ length: 4 }, () => 3 * tokenCount));
  });

  test("lists many accounts in turns: none is left out, and each step has a limited share", async () => {
    const ownerCount = 1_500;
    const { counts, coveredTo } = await runSchedule(ownerCount, { steps: 900 + 1 });
    expect(coveredTo.size).toBe(ownerCount * tokenCount);
    const laterCounts = counts.slice(1);
    expect(Math.max(...laterCounts)).toBeLessThan(350);
  });

  test("starts an account an hour back if a range is read again", async () => {
    const owners = [freshAddress()];
    const schedule = createAccountSchedule(chain, {
      readByLatestLink: async () => toUnprovenOwners(owners),
    });
    const range = { fromBlock: 50_000, toBlock: 50_004 };
    recordAllRead(schedule, await schedule.listDue(range), range);
    const [nextDue] = await schedule.listDue({ fromBlock: 50_005, toBlock: 50_009 });
    expect(nextDue?.sinceSlot).toBe(50_005);
    const [dueAgain] = await schedule.listDue(range);
    expect(dueAgain?.sinceSlot).toBe(41_000);
  });

  /**
   * Returns the first slot from which each account is read within two minutes. The first range is
   * read for the second time.
   */
  const collectSinceSlots = async (schedule: ReturnType<typeof createAccountSchedule>) => {
    const sinceByAccount = new Map<string, number>();
    let range = { fromBlock: 50_000, toBlock: 50_006 };
    for (let step = 0; step < 60; step += 1) {
      const due = await schedule.listDue(range);
      for (const { account, sinceSlot } of due) {
        sinceByAccount.set(account, Math.min(sinceSlot, sinceByAccount.get(account) ?? Infinity));
      }
      recordAllRead(schedule, due, range);
      range = { fromBlock: range.toBlock + 1, toBlock: range.toBlock + stepSlots };
    }
    return [...sinceByAccount.values()];
  };
  const uncommittedRange = { fromBlock: 50_000, toBlock: 50_004 };

  test("leaves no slot out for an account that is not due when an uncommitted range is read again", async () => {
    // More accounts than are due in any one step.
    const owners = Array.from({ length: 60 }, freshAddress);
    const schedule = createAccountSchedule(chain, {
      readByLatestLink: async () => toUnprovenOwners(owners),
    });
    const due = await schedule.listDue(uncommittedRange);
    recordAllRead(schedule, due, uncommittedRange);
    const sinceSlots = await collectSinceSlots(schedule);
    expect(sinceSlots).toHaveLength(due.length);
    expect(sinceSlots.filter((slot) => slot > uncommittedRange.fromBlock)).toEqual([]);
  });

  test("leaves no slot out for owners whose links become less recent before a range is read again", async () => {
    let owners = Array.from({ length: 60 }, freshAddress);
    const schedule = createAccountSchedule(chain, {
      readByLatestLink: async () => toUnprovenOwners(owners),
    });
    const earlierRange = { fromBlock: 49_995, toBlock: 49_999 };
    for (const range of [earlierRange, uncommittedRange])
      recordAllRead(schedule, await schedule.listDue(range), range);
    owners = [...owners.slice(30), ...owners.slice(0, 30)];
    const sinceSlots = await collectSinceSlots(schedule);
    expect(sinceSlots.filter((slot) => slot > uncommittedRange.fromBlock)).toEqual([]);
  });

  test("makes the audit look back once as far as the scan did", async () => {
    const owners = [freshAddress()];
    const schedule = createAccountSchedule(chain, {
      readByLatestLink: async () => toUnprovenOwners(owners),
    });
    const readSinceSlot = async (fromBlock: number) =>
      (await schedule.listAll(fromBlock))[0]?.sinceSlot;
    expect(await readSinceSlot(50_000)).toBe(41_000);
    const range = { fromBlock: 50_000, toBlock: 50_004 };
    recordAllRead(schedule, await schedule.listDue(range), range);
    const nextRange = { fromBlock: 50_005, toBlock: 50_009 };
    recordAllRead(schedule, await schedule.listDue(nextRange), nextRange);
    expect(await readSinceSlot(49_000)).toBe(40_000);
    expect(await readSinceSlot(50_004)).toBe(41_004);
    expect(await readSinceSlot(50_005)).toBe(50_005);
  });

  test("lists an account again until it was read to the end of its range", async () => {
    const owners = [freshAddress()];
    const schedule = createAccountSchedule(chain, {
      readByLatestLink: async () => toUnprovenOwners(owners),
    });
    const range = { fromBlock: 50_000, toBlock: 50_004 };
    const due = await schedule.listDue(range);
    schedule.recordReads(
      due.map((dueAccount) => ({ ...dueAccount, readTo: 45_000 })),
      range,
    );
    const [nextDue] = await schedule.listDue({ fromBlock: 50_005, toBlock: 50_009 });
    expect(nextDue?.sinceSlot).toBe(45_001);
    // The results of a range that is read for the second time may not have been committed the first
    // time.
    const [dueAgain] = await schedule.listDue(range);
    expect(dueAgain?.sinceSlot).toBe(41_000);
  });

  test("lists an owner who was paid in every step, whatever other owners do", async () => {
    const merchant = freshAddress();
    const otherOwners = Array.from({ length: 2_000 }, freshAddress);
    const readByLatestLink = async () => [
      ...toUnprovenOwners(otherOwners),
      { address: merchant, isProven: true },
    ];
    const schedule = createAccountSchedule(chain, { readByLatestLink });
    const accounts = await createAccountSchedule(chain, {
      readByLatestLink: async () => toUnprovenOwners([merchant]),
    }).listAll(0);
    for (let step = 0; step < 20; step += 1) {
      const range = { fromBlock: 1_000 + step * 5, toBlock: 1_004 + step * 5 };
      const due = await schedule.listDue(range);
      const dueAccounts = due.map(({ account }) => account);
      for (const { account } of accounts) expect(dueAccounts).toContain(account);
      recordAllRead(schedule, due, range);
    }
  });
});
