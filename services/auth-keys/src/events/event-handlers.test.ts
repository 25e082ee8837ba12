import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { listDeadLetters } from "@payment-links/bus";
import { AuditRecord, auditRecorded, newId } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";

const rig = useRig(async () => {
  const startedRig = await createRig();
  await startedRig.service.start();
  return startedRig;
});

const Row = z.object({ action: z.string(), operator: z.string().nullable(), count: z.int() });
const Value = z.object({ key: z.string(), value: z.string() });

const readRows = (accountId: string) =>
  rig.pool.any(sql.type(Row)`
    SELECT action, operator, count(*)::int AS count FROM audit_log
    WHERE account_id = ${accountId} GROUP BY action, operator ORDER BY min(seq)
  `);

/** Returns the record that webhook-dispatcher publishes when a user has deleted an endpoint. */
const createDeletionRecord = (
  accountId: string,
  overrides: Partial<AuditRecord> = {},
): AuditRecord => ({
  id: newId("aud"),
  accountId,
  at: rig.clock.now(),
  action: "webhook_endpoint.deleted",
  actor: { kind: "session", id: newId("sess"), operator: null },
  address: "192.0.2.7",
  userAgent: "Browser/1.0",
  method: "passkey",
  targetId: newId("whe"),
  detail: { name: "shop" },
  ...overrides,
});

/** Publishes records as their services do, and waits until they are handled. */
const publishRecords = (...records: AuditRecord[]) =>
  rig.bus.publish(
    records.map((record) => {
      const at = record.at.toISOString();
      return {
        topic: auditRecorded.topic,
        key: record.accountId,
        headers: {
          ce_specversion: "1.0",
          ce_id: record.id,
          ce_source: "webhook-dispatcher",
          ce_type: auditRecorded.type,
          ce_time: at,
        },
        value: JSON.stringify({ ...record, at }),
      };
    }),
  );

describe("an audit event of another service", () => {
  test("appears once in the owner's log with its actor, method and origin, however often it arrives (rules CALLER-23 and EVENT-8)", async () => {
    const { userId, cookie } = await rig.signUp();
    const publishedRecord = createDeletionRecord(userId);
    await publishRecords(publishedRecord, publishedRecord);
    await publishRecords(publishedRecord);
    const { body } = await rig.call("GET", "/console/api/audit-log", { cookie });
    const data = body["data"] as { action: string }[];
    expect(data.filter(({ action }) => action === publishedRecord.action)).toEqual([
      {
        id: publishedRecord.id,
        action: publishedRecord.action,
        actor: { kind: "session", id: publishedRecord.actor.id },
        method: "passkey",
        targetId: publishedRecord.targetId,
        detail: { name: "shop" },
        address: "192.0.2.7",
        userAgent: "Browser/1.0",
        dateCreated: publishedRecord.at.toISOString(),
      },
    ]);
  });

  test("is stored even for an account that a restored database does not know", async () => {
    const unknownAccountId = newId("user");
    await publishRecords(createDeletionRecord(unknownAccountId));
    expect(await readRows(unknownAccountId)).toHaveLength(1);
  });

  // An attacker who controls links-api can publish to this topic.
  test("is ignored if its action belongs to this service (rule EVENT-8)", async () => {
    const { userId } = await rig.signUp();
    const rowsBefore = await readRows(userId);
    const operator = { kind: "operator", id: null, operator: "mallory" } as const;
    for (const action of ["session.started", "wallet.changed", "account.resumed"]) {
      await publishRecords(createDeletionRecord(userId, { action, actor: operator }));
    }
    expect(await readRows(userId)).toEqual(rowsBefore);
  });

  test("is dead-lettered if it is invalid, and does not block other accounts", async () => {
    // The second account's event would not be stored if the invalid record blocked it.
    const [userId, otherUserId] = [newId("user"), newId("user")];
    await publishRecords(
      createDeletionRecord(userId, { action: "no thing" }),
      createDeletionRecord(otherUserId),
    );
    expect(await readRows(otherUserId)).toHaveLength(1);
    expect(await listDeadLetters({ pool: rig.pool, group: "auth-keys" })).toMatchObject([
      { key: userId },
    ]);
  });
});

describe("an audit event of this service", () => {
  test("is published under its entry's id, and appears in the log once (rules EVENT-1 and EVENT-8)", async () => {
    const publishedRecords: z.output<typeof Value>[] = [];
    const subscription = await rig.bus.subscribe({
      group: "siem",
      topics: [auditRecorded.topic],
      handle: async (records) => {
        for (const { key, value } of records)
          publishedRecords.push({ key: key ?? "", value: String(value) });
        return { handledCount: records.length };
      },
    });
    try {
      const { userId, cookie } = await rig.signUp();
      const getOwnRecords = () => publishedRecords.filter(({ key }) => key === userId);
      await waitUntil("the sign-up is in the stream", async () => {
        rig.clock.advance(1_000);
        return getOwnRecords().length === 3;
      });
      const records = getOwnRecords().map(({ value }) => z.decode(AuditRecord, JSON.parse(value)));
      const { body } = await rig.call("GET", "/console/api/audit-log", { cookie });
      const listedRecords = body["data"] as { id: string; action: string }[];
      expect(listedRecords.map(({ id }) => id)).toEqual(records.map(({ id }) => id).toReversed());
      expect(records.map(({ action, method }) => [action, method])).toEqual([
        ["account.created", null],
        ["sign_in_link.made", null],
        ["session.started", "link"],
      ]);
      for (const { count } of await readRows(userId)) expect(count).toBe(1);
    } finally {
      await subscription.stop();
    }
  });
});
