import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { type Account, accountSnapshot, accountUpdated } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

const rig = useRig(createRig);

const VersionRow = z.object({ version: z.int() });

const minuteMs = 60_000;

/** Creates an account whose first version is stored by creating a link. */
const createAccountWithLink = async () => {
  const account = sampleAccount({ username: "First" });
  const linkId = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
  const createState = (
    version: number,
    username: string,
    overrides: Partial<Account> = {},
  ): Account => ({
    ...account,
    version,
    username,
    ...overrides,
  });
  return {
    account,
    linkId,
    createState,
    readUsername: async () => (await rig.retrieve(linkId)).user.username,
  };
};

const createLinkBy = (account: Account) =>
  rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });

const countVersionJumps = async (): Promise<number> => {
  const text = await rig.directMetrics.getSingleMetricAsString("payment_links_version_jumps_total");
  return Number(/\} (\d+)$/.exec(text)?.[1] ?? 0);
};

// Guards against an account that is never updated again after auth-keys was restored. Without this,
// the links of an account suspended there would keep taking payments (rule EVENT-7).
describe("after auth-keys was restored", () => {
  test("a snapshot more than a minute newer replaces a higher version, and versions continue from there (rule EVENT-7)", async () => {
    const { linkId, readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(5, "Lost"));
    const jumpsBefore = await countVersionJumps();
    rig.clock.advance(minuteMs + 1);
    await rig.receiveAccount(createState(4, "Restored"), accountSnapshot);
    expect(await readUsername()).toBe("Restored");
    rig.clock.advance(1_000);
    await rig.receiveAccount(createState(5, "Suspended since", { isSuspended: true }));
    expect(await readUsername()).toBe("Suspended since");
    const checkout = await rig.call(`/checkout/payment-links/${linkId}`);
    expect([checkout.json.reason, checkout.json.instructions]).toEqual(["account_suspended", null]);
    expect(await countVersionJumps()).toBe(jumpsBefore);
  });

  test("a snapshot replaces the state of the same version from before the restore", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(2, "Lost"));
    rig.clock.advance(2 * minuteMs);
    await rig.receiveAccount(createState(2, "Restored, and changed since"), accountSnapshot);
    expect(await readUsername()).toBe("Restored, and changed since");
  });

  test("a snapshot within a minute, or an update event, does not replace a higher version", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(5, "Kept"));
    rig.clock.advance(minuteMs);
    await rig.receiveAccount(createState(4, "Told by a clock that is ahead"), accountSnapshot);
    rig.clock.advance(minuteMs);
    await rig.receiveAccount(createState(4, "An older change, told late"), accountUpdated);
    expect(await readUsername()).toBe("Kept");
  });

  test("replayed events from before the restore do not replace the snapshot (rule EVENT-7)", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    const lostAt = rig.clock.now();
    const lostStates = [
      createState(4, "Lost"),
      createState(5, "Lost, too"),
      createState(6, "Lost, and told again"),
    ];
    for (const lostState of lostStates) await rig.receiveAccount(lostState);
    rig.clock.advance(10 * minuteMs);
    await rig.receiveAccount(createState(3, "Restored"), accountSnapshot);
    const restoredAt = rig.clock.now();
    const jumpsBefore = await countVersionJumps();
    rig.clock.advance(10 * minuteMs);
    const replayLostStates = async () => {
      for (const lostState of lostStates)
        await rig.receiveAccount(lostState, accountUpdated, lostAt);
      await rig.receiveAccount(createState(6, "Lost, and told again"), accountSnapshot, lostAt);
    };
    await replayLostStates();
    expect(await readUsername()).toBe("Restored");
    await rig.receiveAccount(createState(4, "Changed since"));
    await replayLostStates();
    await rig.receiveAccount(createState(3, "Restored"), accountSnapshot, restoredAt);
    expect(await readUsername()).toBe("Changed since");
    expect(await countVersionJumps()).toBe(jumpsBefore);
  });

  test("accepts an update from a process whose clock is at most a minute behind", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(5, "Lost"));
    rig.clock.advance(5 * minuteMs);
    await rig.receiveAccount(createState(3, "Restored"), accountSnapshot);
    const clockBehind = new Date(rig.clock.now().getTime() - minuteMs);
    await rig.receiveAccount(createState(4, "Changed since"), accountUpdated, clockBehind);
    expect(await readUsername()).toBe("Changed since");
  });

  test("a snapshot also replaces an account stored before publication times were recorded", async () => {
    const { account, readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(5, "Lost"));
    await rig.pool.query(sqlVoid`
      UPDATE accounts SET told_at = NULL, anew_from = NULL WHERE id = ${account.id}
    `);
    await rig.receiveAccount(createState(4, "An older change"));
    expect(await readUsername()).toBe("Lost");
    await rig.receiveAccount(createState(4, "Restored"), accountSnapshot);
    expect(await readUsername()).toBe("Restored");
    await rig.receiveAccount(createState(5, "Changed since"));
    expect(await readUsername()).toBe("Changed since");
  });
});

test("a republish by a clock one hour ahead does not block later updates", async () => {
  const { readUsername, createState } = await createAccountWithLink();
  await rig.receiveAccount(createState(2, "Kept"));
  const clockAhead = new Date(rig.clock.now().getTime() + 60 * minuteMs);
  await rig.receiveAccount(createState(2, "Kept"), accountSnapshot, clockAhead);
  await rig.receiveAccount(createState(3, "Changed since"));
  expect(await readUsername()).toBe("Changed since");
});

describe("the account state sent when a link is created", () => {
  test("never replaces a higher version, because it may have been fetched long before", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(5, "Kept"));
    rig.clock.advance(60 * minuteMs);
    await createLinkBy(createState(4, "Asked for before"));
    expect(await readUsername()).toBe("Kept");
  });

  test("has the link's creation time as its publication time", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await createLinkBy(createState(5, "Made a link"));
    await rig.receiveAccount(createState(4, "Told just before"), accountSnapshot);
    expect(await readUsername()).toBe("Made a link");
    rig.clock.advance(2 * minuteMs);
    await rig.receiveAccount(createState(4, "Restored"), accountSnapshot);
    expect(await readUsername()).toBe("Restored");
  });

  test("continues from a restored snapshot, even under a version used before the restore", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await createLinkBy(createState(5, "Lost"));
    rig.clock.advance(2 * minuteMs);
    await rig.receiveAccount(createState(4, "Restored"), accountSnapshot);
    await createLinkBy(createState(5, "Changed since"));
    expect(await readUsername()).toBe("Changed since");
  });

  test("continues from a restored snapshot", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await createLinkBy(createState(5, "Lost"));
    rig.clock.advance(2 * minuteMs);
    await rig.receiveAccount(createState(4, "Restored"), accountSnapshot);
    await createLinkBy(createState(6, "Changed since"));
    expect(await readUsername()).toBe("Changed since");
  });
});

test("concurrent snapshots and link creations of one account end at the published state", async () => {
  const { account, readUsername, createState } = await createAccountWithLink();
  await rig.receiveAccount(createState(9, "Lost"));
  rig.clock.advance(2 * minuteMs);
  const operations = Array.from({ length: 8 }, () => [
    rig.receiveAccount(createState(4, "Restored"), accountSnapshot),
    createLinkBy(createState(5, "Changed since")),
    createLinkBy(createState(4, "Restored")),
  ]);
  await Promise.all(operations.flat());
  await rig.receiveAccount(createState(5, "Changed since"));
  expect(await readUsername()).toBe("Changed since");
  const version = await rig.pool.oneFirst(sql.type(VersionRow)`
    SELECT version FROM accounts WHERE id = ${account.id}
  `);
  expect(version).toBe(5);
});
