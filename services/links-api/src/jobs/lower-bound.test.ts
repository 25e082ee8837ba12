import { expect, test } from "@jest/globals";
import { nothing } from "@payment-links/postgres";
import type { Job } from "@payment-links/process";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sql } from "slonik";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, start } from "../testing/samples.ts";
import { expireLinks } from "./expire-links.ts";
import { forgetIdempotencyKeys } from "./forget-idempotency-keys.ts";

const rig = useRig(openRig);

const hourMs = 3_600_000;
const ago = (hours: number) => sql.timestamp(new Date(start.getTime() - hours * hourMs));

const keepAnswer = (key: string, hours: number) =>
  rig.pool.query(nothing`
    INSERT INTO idempotency_keys (owner_id, key, body_hash, answer, created_at)
    VALUES ('user_x', ${key}, '', '{}', ${ago(hours)})
  `);

/** What is left to do is behind where the job has come: it is found by the look from the start. */
const expectFoundWithinTheHour = async (job: Job, isDone: () => Promise<boolean>) => {
  await job.run();
  expect(await isDone()).toBe(false);
  rig.clock.advance(hourMs);
  await job.run();
  expect(await isDone()).toBe(true);
};

test("forgetting keys looks on from where it has come, and from the start once an hour", async () => {
  const job = forgetIdempotencyKeys(rig.deps);
  await keepAnswer("first", 30);
  await job.run();
  expect(await rig.countKeptAnswers()).toBe(0);
  await keepAnswer("late", 40);
  await expectFoundWithinTheHour(job, async () => (await rig.countKeptAnswers()) === 0);
});

test("expiring links looks on from where it has come, and from the start once an hour", async () => {
  const key = rig.giveKey(sampleAccount());
  const expire = async (hours: number): Promise<string> => {
    const id = await rig.createLink(key, { toAmount: "5" });
    await rig.pool.query(nothing`UPDATE links SET expires_at = ${ago(hours)} WHERE id = ${id}`);
    return id;
  };
  const job = expireLinks(rig.deps);
  const first = await expire(1);
  await job.run();
  expect(await rig.storedStatus(first)).toBe("inactive");
  const late = await expire(2);
  await expectFoundWithinTheHour(job, async () => (await rig.storedStatus(late)) === "inactive");
});
