import { describe, expect, test } from "@jest/globals";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { waitUntil } from "@payment-links/runtime/testing";
import { countLockWaits } from "@payment-links/postgres/testing";
import { fillAuditLog } from "../testing/fill-audit-log.ts";
import { createRig } from "../testing/create-rig.ts";

const rig = useRig(createRig);
const path = "/console/api/audit-log/export";

const requestExport = (cookie: string) => fetch(`${rig.publicUrl}${path}`, { headers: { cookie } });

describe("exports of the audit log", () => {
  test("run two at a time for an account; further requests get 429 with Retry-After (rule CALLER-35)", async () => {
    const { userId, cookie } = await rig.signUp();
    const otherUser = await rig.signUp();
    await fillAuditLog(rig, userId, 40_000);
    const responses = await Promise.all(Array.from({ length: 30 }, () => requestExport(cookie)));
    const countStatus = (status: number) =>
      responses.filter((response) => response.status === status).length;
    expect({ 200: countStatus(200), 429: countStatus(429) }).toEqual({ 200: 2, 429: 28 });
    const rejected = responses.find((response) => response.status === 429);
    expect(rejected?.headers.get("retry-after")).toBe("10");
    expect((await requestExport(otherUser.cookie)).status).toBe(200);
    for (const { body } of responses) await body?.cancel();
  });

  test("do not use a connection of the request pool (rule CALLER-36)", async () => {
    const { userId, cookie } = await rig.signUp();
    await fillAuditLog(rig, userId, 10);
    const { pendingExport } = await rig.pool.transaction(async (tx) => {
      await tx.query(sqlVoid`LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE`);
      const pendingExport = requestExport(cookie);
      // The only acquired connection belongs to this transaction.
      await waitUntil("the export uses its own connection", async () => {
        const lockWaits = await countLockWaits(tx);
        return lockWaits > 0 && rig.pool.state().acquiredConnections === 1;
      });
      return { pendingExport };
    });
    expect((await pendingExport).status).toBe(200);
  });
});
