import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { republishLinks } from "../store/links.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(openRig);

const Nothing = z.object({}).strict();

describe("POST /internal/republish/payment-links", () => {
  test("has every link's present state told once, as a snapshot that makes no new version (rule EVENT-5)", async () => {
    const key = rig.giveKey(sampleAccount());
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      ids.push(await rig.createLink(key, { toAmount: "5" }));
    }
    const [paid = "", ...others] = ids;
    await rig.settle(sampleSettlement(paid, { amount: "5" }));
    const [, , last] = await rig.eventsOf(paid);
    await rig.pool.query(sql.type(Nothing)`DELETE FROM outbox`);

    const path = "/internal/republish/payment-links";
    expect((await rig.internalCall(path)).status).toBe(404);
    const asked = await rig.internalCall(path, { method: "POST" });
    const askedAt = rig.clock.now().toISOString();
    const started = { publishedCount: 0, askedAt, endedAt: null };
    expect([asked.status, asked.json]).toEqual([202, started]);
    await rig.republish(republishLinks);
    const told = await rig.internalCall(path);
    expect([told.status, told.json]).toEqual([
      200,
      { publishedCount: 3, askedAt, endedAt: askedAt },
    ]);
    const snapshots = await rig.eventsOf(paid);
    expect(snapshots.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: "payment_link.snapshot", data: { link: last?.data.link } },
    ]);
    for (const id of others) {
      expect((await rig.eventsOf(id)).map(({ type }) => type)).toEqual(["payment_link.snapshot"]);
    }
  });
});

describe("readiness", () => {
  test("given the schema and the database, the service is ready", async () => {
    expect((await rig.internalCall("/readyz")).status).toBe(200);
  });

  test("given no database, it is not, and list and create say so in their own words (rule ERROR-3)", async () => {
    const other = await openRig();
    await other.pool.end();
    expect((await other.internalCall("/readyz")).status).toBe(503);
    const key = other.giveKey(sampleAccount());
    const tries: [string, object, number, string][] = [
      ["/v1/payment-link", {}, 404, "CANNOT_FIND_PAYMENT_LINK"],
      [
        "/v1/payment-link",
        { method: "POST", body: '{"toAmount":1}' },
        500,
        "CANNOT_CREATE_PAYMENT_LINK",
      ],
      ["/v1/payment-link/plink_01m7y4kb9sfvktcnzb0r3g9a0s", {}, 500, "INTERNAL_ERROR"],
    ];
    for (const [path, call, status, code] of tries) {
      const answer = await other.call(path, { ...call, headers: key });
      expect([answer.status, answer.json.errors[0].code]).toEqual([status, code]);
    }
    await other.close();
  });
});
