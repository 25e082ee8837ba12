import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { linkRepublishSource } from "../store/links.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const rig = useRig(createRig);

const EmptyRow = z.object({}).strict();

describe("POST /internal/republish/payment-links", () => {
  test("publishes every link's current state once, as a snapshot with an unchanged version (rule EVENT-5)", async () => {
    const keyHeaders = rig.createKeyHeaders(sampleAccount());
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      ids.push(await rig.createLink(keyHeaders, { toAmount: "5" }));
    }
    const [paidLinkId = "", ...otherLinkIds] = ids;
    await rig.settle(sampleSettlement(paidLinkId, { amount: "5" }));
    const [, , lastEvent] = await rig.listEvents(paidLinkId);
    await rig.pool.query(sql.type(EmptyRow)`DELETE FROM outbox`);

    const path = "/internal/republish/payment-links";
    expect((await rig.internalCall(path)).status).toBe(404);
    const postResponse = await rig.internalCall(path, { method: "POST" });
    const requestedAt = rig.clock.now().toISOString();
    const startedState = { publishedCount: 0, askedAt: requestedAt, endedAt: null };
    expect([postResponse.status, postResponse.json]).toEqual([202, startedState]);
    await rig.republish(linkRepublishSource);
    const statusResponse = await rig.internalCall(path);
    expect([statusResponse.status, statusResponse.json]).toEqual([
      200,
      { publishedCount: 3, askedAt: requestedAt, endedAt: requestedAt },
    ]);
    const snapshots = await rig.listEvents(paidLinkId);
    expect(snapshots.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: "payment_link.snapshot", data: { link: lastEvent?.data.link } },
    ]);
    for (const id of otherLinkIds) {
      expect((await rig.listEvents(id)).map(({ type }) => type)).toEqual(["payment_link.snapshot"]);
    }
  });
});

describe("readiness", () => {
  test("is ready with the schema and the database", async () => {
    expect((await rig.internalCall("/readyz")).status).toBe(200);
  });

  test("is not ready without a database, and list and create return their own errors (rule ERROR-3)", async () => {
    const otherRig = await createRig();
    await otherRig.pool.end();
    expect((await otherRig.internalCall("/readyz")).status).toBe(503);
    const keyHeaders = otherRig.createKeyHeaders(sampleAccount());
    const attempts: [string, object, number, string][] = [
      ["/v1/payment-link", {}, 404, "CANNOT_FIND_PAYMENT_LINK"],
      [
        "/v1/payment-link",
        { method: "POST", body: '{"toAmount":1}' },
        500,
        "CANNOT_CREATE_PAYMENT_LINK",
      ],
      ["/v1/payment-link/plink_01m7y4kb9sfvktcnzb0r3g9a0s", {}, 500, "INTERNAL_ERROR"],
    ];
    for (const [path, callOptions, status, code] of attempts) {
      const response = await otherRig.call(path, { ...callOptions, headers: keyHeaders });
      expect([response.status, response.json.errors[0].code]).toEqual([status, code]);
    }
    await otherRig.close();
  });
});
