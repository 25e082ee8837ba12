import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { sqlVoid, connectPool } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { deleteOldAuditEntries } from "./delete-old-audit-entries.ts";
import { deleteBatchMax } from "./delete-expired-rows.ts";

const Row = z.object({ name: z.string() });
const Count = z.object({ count: z.int() });
const dayMs = 24 * 60 * 60_000;

const rig = useRig(createRig);

/**
 * Inserts entries that occurred `days` days ago and, by the database's clock, were stored
 * `storedDays` days ago.
 */
const insertEntries = (
  options: { name: string; days: number; storedDays?: number; count?: number },
  { pool, clock } = rig,
) => {
  const { name, days, storedDays = days, count = 1 } = options;
  const at = new Date(clock.now().getTime() - days * dayMs);
  return pool.query(sqlVoid`
    INSERT INTO audit_log (occurred_at, written_at, account_id, actor_kind, action, detail)
    SELECT ${sql.timestamp(at)}, now() - ${storedDays}::int * interval '1 day', ${name}, 'service',
      'account.changed', '{}'
    FROM generate_series(1, ${count}::int)
  `);
};

const listRemaining = ({ pool } = rig) =>
  pool.anyFirst(sql.type(Row)`SELECT DISTINCT account_id AS name FROM audit_log ORDER BY 1`);

describe("the audit log (rule CALLER-23)", () => {
  test("is retained for the configured time, and older entries are deleted in limited batches", async () => {
    const ownRig = await createRig();
    try {
      await insertEntries({ name: "old", days: 91, count: deleteBatchMax + 1 }, ownRig);
      await insertEntries({ name: "kept", days: 89 }, ownRig);
      const dependencies = { ...ownRig.context, auditLogDays: 90 };
      expect(await deleteOldAuditEntries(dependencies).run()).toBe(true);
      expect(await listRemaining(ownRig)).toEqual(["kept", "old"]);
      expect(await deleteOldAuditEntries(dependencies).run()).toBe(false);
      expect(await listRemaining(ownRig)).toEqual(["kept"]);
    } finally {
      await ownRig.close();
    }
  });

  test("is retained without a limit by default", async () => {
    await insertEntries({ name: "ancient", days: 10_000 });
    expect(await deleteOldAuditEntries({ ...rig.context, auditLogDays: 0 }).run()).toBe(false);
    expect(await listRemaining()).toContain("ancient");
  });

  test("keeps entries that were stored less than 30 days ago, even if they occurred earlier", async () => {
    await insertEntries({ name: "late", days: 400, storedDays: 29 });
    await deleteOldAuditEntries({ ...rig.context, auditLogDays: 90 }).run();
    expect(await listRemaining()).toContain("late");
    const deleteQuery = rig.pool.query(sqlVoid`DELETE FROM audit_log WHERE account_id = 'late'`);
    await expect(deleteQuery).rejects.toThrow("append-only");
  });

  test("is cleaned up by a started service", async () => {
    const ownRig = await createRig({ auditLogDays: 30 });
    try {
      await insertEntries({ name: "old", days: 31 }, ownRig);
      await ownRig.service.start();
      await waitUntil("the old entry is deleted", async () => {
        ownRig.clock.advance(60_000);
        return (await listRemaining(ownRig)).length === 0;
      });
    } finally {
      await ownRig.close();
    }
  });

  test("rejects changes even by the owner of its table, except deletion by age", async () => {
    await insertEntries({ name: "young", days: 1 });
    const { adminUrl } = rig.database;
    const { log } = rig.context;
    const ownerPool = await connectPool({
      url: adminUrl,
      applicationName: "t",
      connectionsMax: 1,
      log,
    });
    try {
      for (const attempt of [
        sqlVoid`UPDATE auth_keys.audit_log SET action = 'nothing'`,
        sqlVoid`DELETE FROM auth_keys.audit_log WHERE account_id = 'young'`,
        sqlVoid`TRUNCATE auth_keys.audit_log`,
      ]) {
        await expect(ownerPool.query(attempt)).rejects.toThrow("append-only");
      }
    } finally {
      await ownerPool.end();
    }
    const count = await rig.pool.oneFirst(sql.type(Count)`
      SELECT count(*)::int AS count FROM audit_log WHERE account_id = 'young'
    `);
    expect(count).toBe(1);
  });
});
