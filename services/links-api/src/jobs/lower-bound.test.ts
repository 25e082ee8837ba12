import { expect, test } from "@jest/globals";
import { sqlVoid } from "@payment-links/postgres";
import type { BackgroundJob } from "@payment-links/process";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sql } from "slonik";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, testStartTime } from "../testing/samples.ts";
import { expireLinks } from "./expire-links.ts";
import { deleteIdempotencyKeys } from "./delete-idempotency-keys.ts";

const rig = useRig(createRig);

const hourMs = 3_600_000;
const hoursAgo = (ageHours: number) =>
  sql.timestamp(new Date(testStartTime.getTime() - ageHours * hourMs));

const insertStoredResponse = (key: string, ageHours: number) =>
  rig.pool.query(sqlVoid`
    INSERT INTO idempotency_keys (owner_id, key, body_hash, answer, created_at)
    VALUES ('user_x', ${key}, '', '{}', ${hoursAgo(ageHours)})
  `);

/**
 * Expects that rows from before the lower bound are only processed by the hourly run from the
 * start.
 */
const expectDoneWithinAnHour = async (job: BackgroundJob, isDone: () => Promise<boolean>) => {
  await job.run();
  expect(await isDone()).toBe(false);
  rig.clock.advance(hourMs);
  await job.run();
  expect(await isDone()).toBe(true);
};

test("idempotency key cleanup continues from its last position, and starts over once an hour", async () => {
  const job = deleteIdempotencyKeys(rig.dependencies);
  await insertStoredResponse("first", 30);
  await job.run();
  expect(await rig.countStoredResponses()).toBe(0);
  await insertStoredResponse("late", 40);
  await expectDoneWithinAnHour(job, async () => (await rig.countStoredResponses()) === 0);
});

test("link expiry continues from its last position, and starts over once an hour", async () => {
  const key = rig.createKeyHeaders(sampleAccount());
  const createExpiredLink = async (ageHours: number): Promise<string> => {
    const id = await rig.createLink(key, { toAmount: "5" });
    await rig.pool.query(
      sqlVoid`UPDATE links SET expires_at = ${hoursAgo(ageHours)} WHERE id = ${id}`,
    );
    return id;
  };
  const job = expireLinks(rig.dependencies);
  const firstLinkId = await createExpiredLink(1);
  await job.run();
  expect(await rig.readStoredStatus(firstLinkId)).toBe("inactive");
  const lateLinkId = await createExpiredLink(2);
  await expectDoneWithinAnHour(
    job,
    async () => (await rig.readStoredStatus(lateLinkId)) === "inactive",
  );
});
