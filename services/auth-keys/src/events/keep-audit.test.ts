import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { listDeadLetters } from "@payment-links/bus";
import { AuditRecord, auditRecorded, newId } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";

const rig = useRig(async () => {
  const opened = await openRig();
  await opened.service.start();
  return opened;
});

const Row = z.object({ action: z.string(), operator: z.string().nullable(), count: z.int() });
const Value = z.object({ key: z.string(), value: z.string() });

const rowsOf = (accountId: string) =>
  rig.pool.any(sql.type(Row)`
    SELECT action, operator, count(*)::int AS count FROM audit_log
    WHERE account_id = ${accountId} GROUP BY action, operator ORDER BY min(seq)
  `);

/** What webhook-dispatcher says when a person has deleted an endpoint. */
const deletion = (accountId: string, change: Partial<AuditRecord> = {}): AuditRecord => ({
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
  ...change,
});

/** Publishes entries as their senders do; ends once they are applied. */
const tell = (...records: AuditRecord[]) =>
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

describe("what another service tells", () => {
  test("stands in the owner's log, with who, how and from where, once however often it comes (rules CALLER-23 and EVENT-8)", async () => {
    const { userId, cookie } = await rig.signUp();
    const told = deletion(userId);
    await tell(told, told);
    await tell(told);
    const { body } = await rig.call("GET", "/console/api/audit-log", { cookie });
    const data = body["data"] as { action: string }[];
    expect(data.filter(({ action }) => action === told.action)).toEqual([
      {
        id: told.id,
        action: told.action,
        actor: { kind: "session", id: told.actor.id },
        method: "passkey",
        targetId: told.targetId,
        detail: { name: "shop" },
        address: "192.0.2.7",
        userAgent: "Browser/1.0",
        dateCreated: told.at.toISOString(),
      },
    ]);
  });

  test("is kept for an account that a restored database does not know", async () => {
    const nobody = newId("user");
    await tell(deletion(nobody));
    expect(await rowsOf(nobody)).toHaveLength(1);
  });

  // Who takes links-api over may write the topic.
  test("is not taken where it speaks of what this service alone does (rule EVENT-8)", async () => {
    const { userId } = await rig.signUp();
    const before = await rowsOf(userId);
    const operator = { kind: "operator", id: null, operator: "mallory" } as const;
    for (const action of ["session.started", "wallet.changed", "account.resumed"]) {
      await tell(deletion(userId, { action, actor: operator }));
    }
    expect(await rowsOf(userId)).toEqual(before);
  });

  test("is set aside where it is no entry, and holds nobody else's up", async () => {
    // Somebody of whom nothing else is told, which would wait behind it.
    const [userId, other] = [newId("user"), newId("user")];
    await tell(deletion(userId, { action: "no thing" }), deletion(other));
    expect(await rowsOf(other)).toHaveLength(1);
    expect(await listDeadLetters({ pool: rig.pool, group: "auth-keys" })).toMatchObject([
      { key: userId },
    ]);
  });
});

describe("what this service does", () => {
  test("is told on the topic too, under the id of the entry, and stands in the log once (rules EVENT-1 and EVENT-8)", async () => {
    const told: z.output<typeof Value>[] = [];
    const subscription = await rig.bus.subscribe({
      group: "siem",
      topics: [auditRecorded.topic],
      handle: async (records) => {
        for (const { key, value } of records) told.push({ key: key ?? "", value: String(value) });
        return { handledCount: records.length };
      },
    });
    try {
      const { userId, cookie } = await rig.signUp();
      const own = () => told.filter(({ key }) => key === userId);
      await waitUntil("the stream has the sign-up", async () => {
        rig.clock.advance(1_000);
        return own().length === 3;
      });
      const records = own().map(({ value }) => z.decode(AuditRecord, JSON.parse(value)));
      const { body } = await rig.call("GET", "/console/api/audit-log", { cookie });
      const shown = body["data"] as { id: string; action: string }[];
      expect(shown.map(({ id }) => id)).toEqual(records.map(({ id }) => id).toReversed());
      expect(records.map(({ action, method }) => [action, method])).toEqual([
        ["account.created", null],
        ["sign_in_link.made", null],
        ["session.started", "link"],
      ]);
      for (const { count } of await rowsOf(userId)) expect(count).toBe(1);
    } finally {
      await subscription.stop();
    }
  });
});
