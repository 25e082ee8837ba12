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

// Guards against accounts that are never updated again after auth-keys was restored from a backup.
// For example, the links of an account that was suspended after the restore would still accept
// payments (rule EVENT-7).
describe("after auth-keys was restored", () => {
  test("a snapshot more than a minute newer replaces a higher version, and versions continue from there (rule EVENT-7)", async () => {
    const { linkId, readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(5, "Lost"));
    const jumpsBefore = await countVersionJumps();
    rig.clock.advance(minuteMs + 1);
    await rig.receiveAccount(createState(4, "Restored"), accountSnapshot);
    expect(await readUsername()).toBe("Restored");
    rig.clock.advance(1_000);
    await rig.receiveAccount(createState(5, "Suspended after restore", { isSuspended: true }));
    expect(await readUsername()).toBe("Suspended after restore");
    const checkout = await rig.call(`/checkout/payment-links/${linkId}`);
    expect([checkout.json.reason, checkout.json.instructions]).toEqual(["account_suspended", null]);
    expect(await countVersionJumps()).toBe(jumpsBefore);
  });

  test("a snapshot replaces the state of the same version from before the restore", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(2, "Lost"));
    rig.clock.advance(2 * minuteMs);
    await rig.receiveAccount(createState(2, "Restored, then changed"), accountSnapshot);
    expect(await readUsername()).toBe("Restored, then changed");
  });

  test("a snapshot within a minute, or an update event, does not replace a higher version", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(5, "Unchanged"));
    rig.clock.advance(minuteMs);
    await rig.receiveAccount(createState(4, "Published by a fast clock"), accountSnapshot);
    rig.clock.advance(minuteMs);
    await rig.receiveAccount(createState(4, "An older change, published late"), accountUpdated);
    expect(await readUsername()).toBe("Unchanged");
  });

  test("replayed events from before the restore do not replace the snapshot (rule EVENT-7)", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    const lostAt = rig.clock.now();
    const lostStates = [
      createState(4, "Lost"),
      createState(5, "Also lost"),
      createState(6, "Lost and published again"),
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
      await rig.receiveAccount(createState(6, "Lost and published again"), accountSnapshot, lostAt);
    };
    await replayLostStates();
    expect(await readUsername()).toBe("Restored");
    await rig.receiveAccount(createState(4, "Changed later"));
    await replayLostStates();
    await rig.receiveAccount(createState(3, "Restored"), accountSnapshot, restoredAt);
    expect(await readUsername()).toBe("Changed later");
    expect(await countVersionJumps()).toBe(jumpsBefore);
  });

  test("accepts an update from a process whose clock is at most a minute behind", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(5, "Lost"));
    rig.clock.advance(5 * minuteMs);
    await rig.receiveAccount(createState(3, "Restored"), accountSnapshot);
    const clockBehind = new Date(rig.clock.now().getTime() - minuteMs);
    await rig.receiveAccount(createState(4, "Changed later"), accountUpdated, clockBehind);
    expect(await readUsername()).toBe("Changed later");
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
    await rig.receiveAccount(createState(5, "Changed later"));
    expect(await readUsername()).toBe("Changed later");
  });
});

test("a republish by a clock one hour ahead does not block later updates", async () => {
  const { readUsername, createState } = await createAccountWithLink();
  await rig.receiveAccount(createState(2, "Unchanged"));
  const clockAhead = new Date(rig.clock.now().getTime() + 60 * minuteMs);
  await rig.receiveAccount(createState(2, "Unchanged"), accountSnapshot, clockAhead);
  await rig.receiveAccount(createState(3, "Changed later"));
  expect(await readUsername()).toBe("Changed later");
});

describe("the account state sent when a link is created", () => {
  test("never replaces a higher version, because it may have been fetched long before", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await rig.receiveAccount(createState(5, "Unchanged"));
    rig.clock.advance(60 * minuteMs);
    await createLinkBy(createState(4, "Requested earlier"));
    expect(await readUsername()).toBe("Unchanged");
  });

  test("has the link's creation time as its publication time", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await createLinkBy(createState(5, "Created a link"));
    await rig.receiveAccount(createState(4, "Published just before"), accountSnapshot);
    expect(await readUsername()).toBe("Created a link");
    rig.clock.advance(2 * minuteMs);
    await rig.receiveAccount(createState(4, "Restored"), accountSnapshot);
    expect(await readUsername()).toBe("Restored");
  });

  test("continues from a restored snapshot, even under a version used before the restore", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await createLinkBy(createState(5, "Lost"));
    rig.clock.advance(2 * minuteMs);
    await rig.receiveAccount(createState(4, "Restored"), accountSnapshot);
    await createLinkBy(createState(5, "Changed later"));
    expect(await readUsername()).toBe("Changed later");
  });

  test("continues from a restored snapshot", async () => {
    const { readUsername, createState } = await createAccountWithLink();
    await createLinkBy(createState(5, "Lost"));
    rig.clock.advance(2 * minuteMs);
    await rig.receiveAccount(createState(4, "Restored"), accountSnapshot);
    await createLinkBy(createState(6, "Changed later"));
    expect(await readUsername()).toBe("Changed later");
  });
});

test("concurrent snapshots and link creations of one account end at the published state", async () => {
  const { account, readUsername, createState } = await createAccountWithLink();
  await rig.receiveAccount(createState(9, "Lost"));
  rig.clock.advance(2 * minuteMs);
  const operations = Array.from({ length: 8 }, () => [
    rig.receiveAccount(createState(4, "Restored"), accountSnapshot),
    createLinkBy(createState(5, "Changed later")),
    createLinkBy(createState(4, "Restored")),
  ]);
  await Promise.all(operations.flat());
  await rig.receiveAccount(createState(5, "Changed later"));
  expect(await readUsername()).toBe("Changed later");
  const version = await rig.pool.oneFirst(sql.type(VersionRow)`
    SELECT version FROM accounts WHERE id = ${account.id}
  `);
  expect(version).toBe(5);
});
