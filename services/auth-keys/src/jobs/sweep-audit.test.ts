import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { nothing, openPool } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { sweepAudit } from "./sweep-audit.ts";
import { sweepRowsMax } from "./sweep-ended.ts";

const Row = z.object({ name: z.string() });
const Count = z.object({ count: z.int() });
const dayMs = 24 * 60 * 60_000;

const rig = useRig(openRig);

/** Entries of so many days ago, which have stood in the table for as many by the database's clock. */
const write = (
  given: { name: string; days: number; stoodDays?: number; count?: number },
  { pool, clock } = rig,
) => {
  const { name, days, stoodDays = days, count = 1 } = given;
  const at = new Date(clock.now().getTime() - days * dayMs);
  return pool.query(nothing`
    INSERT INTO audit_log (occurred_at, written_at, account_id, actor_kind, action, detail)
    SELECT ${sql.timestamp(at)}, now() - ${stoodDays}::int * interval '1 day', ${name}, 'service',
      'account.changed', '{}'
    FROM generate_series(1, ${count}::int)
  `);
};

const left = ({ pool } = rig) =>
  pool.anyFirst(sql.type(Row)`SELECT DISTINCT account_id AS name FROM audit_log ORDER BY 1`);

describe("the audit log (rule CALLER-23)", () => {
  test("is kept as long as set, and what is older goes in bounded steps", async () => {
    const own = await openRig();
    try {
      await write({ name: "old", days: 91, count: sweepRowsMax + 1 }, own);
      await write({ name: "kept", days: 89 }, own);
      const deps = { ...own.ground, auditLogDays: 90 };
      expect(await sweepAudit(deps)).toBe(true);
      expect(await left(own)).toEqual(["kept", "old"]);
      expect(await sweepAudit(deps)).toBe(false);
      expect(await left(own)).toEqual(["kept"]);
    } finally {
      await own.close();
    }
  });

  test("is kept for ever where nothing is set", async () => {
    await write({ name: "ancient", days: 10_000 });
    expect(await sweepAudit({ ...rig.ground, auditLogDays: 0 })).toBe(false);
    expect(await left()).toContain("ancient");
  });

  test("holds on to what has stood there for less than 30 days, whatever an entry says of its time", async () => {
    await write({ name: "late", days: 400, stoodDays: 29 });
    await sweepAudit({ ...rig.ground, auditLogDays: 90 });
    expect(await left()).toContain("late");
    const deletion = rig.pool.query(nothing`DELETE FROM audit_log WHERE account_id = 'late'`);
    await expect(deletion).rejects.toThrow("append-only");
  });

  test("is swept by a started service", async () => {
    const own = await openRig({ auditLogDays: 30 });
    try {
      await write({ name: "old", days: 31 }, own);
      await own.service.start();
      await waitUntil("it is gone", async () => {
        own.clock.advance(60_000);
        return (await left(own)).length === 0;
      });
    } finally {
      await own.close();
    }
  });

  test("its owner in the database is refused too, but by age", async () => {
    await write({ name: "young", days: 1 });
    const { adminUrl } = rig.database;
    const { log } = rig.ground;
    const owner = await openPool({ url: adminUrl, applicationName: "t", connectionsMax: 1, log });
    try {
      for (const attempt of [
        nothing`UPDATE auth_keys.audit_log SET action = 'nothing'`,
        nothing`DELETE FROM auth_keys.audit_log WHERE account_id = 'young'`,
        nothing`TRUNCATE auth_keys.audit_log`,
      ]) {
        await expect(owner.query(attempt)).rejects.toThrow("append-only");
      }
    } finally {
      await owner.end();
    }
    const count = await rig.pool.oneFirst(sql.type(Count)`
      SELECT count(*)::int AS count FROM audit_log WHERE account_id = 'young'
    `);
    expect(count).toBe(1);
  });
});
