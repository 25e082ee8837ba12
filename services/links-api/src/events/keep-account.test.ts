import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { type Account, accountSnapshot, accountUpdated } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

const rig = useRig(openRig);

const VersionRow = z.object({ version: z.int() });

const minuteMs = 60_000;

/** An account whose first version is written by the link that it makes. */
const open = async () => {
  const account = sampleAccount({ username: "First" });
  const linkId = await rig.createLink(rig.giveKey(account), { toAmount: "1" });
  const state = (version: number, username: string, more: Partial<Account> = {}): Account => ({
    ...account,
    version,
    username,
    ...more,
  });
  return { account, linkId, state, shown: async () => (await rig.retrieve(linkId)).user.username };
};

const createBy = (account: Account) => rig.createLink(rig.giveKey(account), { toAmount: "1" });

const countJumps = async (): Promise<number> => {
  const text = await rig.directMetrics.getSingleMetricAsString("payment_links_version_jumps_total");
  return Number(/\} (\d+)$/.exec(text)?.[1] ?? 0);
};

// Guards against an account that is never heard of again once auth-keys was restored: suspended there,
// its links would go on taking payments (rule EVENT-7).
describe("of an auth-keys that was restored,", () => {
  test("a snapshot told more than a minute later replaces a higher version, and versions count on from there (rule EVENT-7)", async () => {
    const { linkId, shown, state } = await open();
    await rig.hear(state(5, "Lost"));
    const jumps = await countJumps();
    rig.clock.advance(minuteMs + 1);
    await rig.hear(state(4, "Restored"), accountSnapshot);
    expect(await shown()).toBe("Restored");
    rig.clock.advance(1_000);
    await rig.hear(state(5, "Suspended since", { isSuspended: true }));
    expect(await shown()).toBe("Suspended since");
    const checkout = await rig.call(`/checkout/payment-links/${linkId}`);
    expect([checkout.json.reason, checkout.json.instructions]).toEqual(["account_suspended", null]);
    expect(await countJumps()).toBe(jumps);
  });

  test("a snapshot replaces the lost timeline's state of the same version", async () => {
    const { shown, state } = await open();
    await rig.hear(state(2, "Lost"));
    rig.clock.advance(2 * minuteMs);
    await rig.hear(state(2, "Restored, and changed since"), accountSnapshot);
    expect(await shown()).toBe("Restored, and changed since");
  });

  test("nothing that is told within a minute, and no change, replaces a higher version", async () => {
    const { shown, state } = await open();
    await rig.hear(state(5, "Kept"));
    rig.clock.advance(minuteMs);
    await rig.hear(state(4, "Told by a clock that is ahead"), accountSnapshot);
    rig.clock.advance(minuteMs);
    await rig.hear(state(4, "An older change, told late"), accountUpdated);
    expect(await shown()).toBe("Kept");
  });

  test("what the lost timeline told does not win when it comes again after the snapshot (rule EVENT-7)", async () => {
    const { shown, state } = await open();
    const lostAt = rig.clock.now();
    const lost = [state(4, "Lost"), state(5, "Lost, too"), state(6, "Lost, and told again")];
    for (const one of lost) await rig.hear(one);
    rig.clock.advance(10 * minuteMs);
    await rig.hear(state(3, "Restored"), accountSnapshot);
    const toldAgainAt = rig.clock.now();
    const jumps = await countJumps();
    rig.clock.advance(10 * minuteMs);
    const comeAgain = async () => {
      for (const one of lost) await rig.hear(one, accountUpdated, lostAt);
      await rig.hear(state(6, "Lost, and told again"), accountSnapshot, lostAt);
    };
    await comeAgain();
    expect(await shown()).toBe("Restored");
    await rig.hear(state(4, "Changed since"));
    await comeAgain();
    await rig.hear(state(3, "Restored"), accountSnapshot, toldAgainAt);
    expect(await shown()).toBe("Changed since");
    expect(await countJumps()).toBe(jumps);
  });

  test("a change by another process whose clock is behind by less than a minute is taken", async () => {
    const { shown, state } = await open();
    await rig.hear(state(5, "Lost"));
    rig.clock.advance(5 * minuteMs);
    await rig.hear(state(3, "Restored"), accountSnapshot);
    const behind = new Date(rig.clock.now().getTime() - minuteMs);
    await rig.hear(state(4, "Changed since"), accountUpdated, behind);
    expect(await shown()).toBe("Changed since");
  });

  test("an account that was heard of before such times were kept is told anew as well", async () => {
    const { account, shown, state } = await open();
    await rig.hear(state(5, "Lost"));
    await rig.pool.query(nothing`
      UPDATE accounts SET told_at = NULL, anew_from = NULL WHERE id = ${account.id}
    `);
    await rig.hear(state(4, "An older change"));
    expect(await shown()).toBe("Lost");
    await rig.hear(state(4, "Restored"), accountSnapshot);
    expect(await shown()).toBe("Restored");
    await rig.hear(state(5, "Changed since"));
    expect(await shown()).toBe("Changed since");
  });
});

test("a clock that was an hour ahead when all was told again keeps no later change away", async () => {
  const { shown, state } = await open();
  await rig.hear(state(2, "Kept"));
  const ahead = new Date(rig.clock.now().getTime() + 60 * minuteMs);
  await rig.hear(state(2, "Kept"), accountSnapshot, ahead);
  await rig.hear(state(3, "Changed since"));
  expect(await shown()).toBe("Changed since");
});

describe("the state with which a link is made", () => {
  test("never replaces a higher version, however late: it may have been asked for long before", async () => {
    const { shown, state } = await open();
    await rig.hear(state(5, "Kept"));
    rig.clock.advance(60 * minuteMs);
    await createBy(state(4, "Asked for before"));
    expect(await shown()).toBe("Kept");
  });

  test("counts as told when the link is made", async () => {
    const { shown, state } = await open();
    await createBy(state(5, "Made a link"));
    await rig.hear(state(4, "Told just before"), accountSnapshot);
    expect(await shown()).toBe("Made a link");
    rig.clock.advance(2 * minuteMs);
    await rig.hear(state(4, "Restored"), accountSnapshot);
    expect(await shown()).toBe("Restored");
  });

  test("counts on from what a restored auth-keys told, also under the version of the lost one", async () => {
    const { shown, state } = await open();
    await createBy(state(5, "Lost"));
    rig.clock.advance(2 * minuteMs);
    await rig.hear(state(4, "Restored"), accountSnapshot);
    await createBy(state(5, "Changed since"));
    expect(await shown()).toBe("Changed since");
  });

  test("counts on from what a restored auth-keys told", async () => {
    const { shown, state } = await open();
    await createBy(state(5, "Lost"));
    rig.clock.advance(2 * minuteMs);
    await rig.hear(state(4, "Restored"), accountSnapshot);
    await createBy(state(6, "Changed since"));
    expect(await shown()).toBe("Changed since");
  });
});

test("many processes that tell one account anew at once, and make links with it, end at what was told", async () => {
  const { account, shown, state } = await open();
  await rig.hear(state(9, "Lost"));
  rig.clock.advance(2 * minuteMs);
  const told = Array.from({ length: 8 }, () => [
    rig.hear(state(4, "Restored"), accountSnapshot),
    createBy(state(5, "Changed since")),
    createBy(state(4, "Restored")),
  ]);
  await Promise.all(told.flat());
  await rig.hear(state(5, "Changed since"));
  expect(await shown()).toBe("Changed since");
  const version = await rig.pool.oneFirst(sql.type(VersionRow)`
    SELECT version FROM accounts WHERE id = ${account.id}
  `);
  expect(version).toBe(5);
});
