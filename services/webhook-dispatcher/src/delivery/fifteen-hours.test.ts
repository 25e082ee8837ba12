import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Receiver, answer, openReceiver } from "../testing/open-receiver.ts";
import { type Person, type RegisteredEndpoint, type Rig, openRig } from "../testing/open-rig.ts";

const gapsMs = [30_000, 300_000, 1_800_000, 7_200_000, 43_200_000];

let receiver: Receiver;
let rig: Rig;
/** What spreads the next retry, from 0 to 1. */
let random: number;
beforeEach(async () => {
  receiver = await openReceiver();
  receiver.respondWith((res, { path }) => answer(path === "/hook" ? 503 : 200)(res));
  rig = await openRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${receiver.origin}` },
    outside: { random: () => random },
  });
});
afterEach(async () => {
  await rig.close();
  await receiver.close();
});

type Running = Awaited<ReturnType<Rig["startAnother"]>>;

/** The next processes take over, as in a deployment: new ones come before the old ones go. */
const replace = async (running: readonly Running[]): Promise<Running[]> => {
  const fresh = [await rig.startAnother(), await rig.startAnother()];
  await Promise.all(running.map(({ service }) => service.stop()));
  return fresh;
};

const attemptsOver = (person: Person, endpoint: RegisteredEndpoint, attempts: number) =>
  waitUntil(`attempt ${attempts} is over`, async () => {
    const [entry] = await rig.readLog(person, endpoint);
    const isUnderWay = entry?.["status"] === "Pending" && entry["nextAttemptAt"] === null;
    return entry?.["attempts"] === attempts && !isUnderWay ? entry : undefined;
  });

/** Ends once the queue has certainly been looked at after now. */
const queueLookedAt = async () => {
  const witness = rig.signIn();
  const endpoint = await rig.register(witness, "/witness");
  await rig.tellCompleted(witness);
  await attemptsOver(witness, endpoint, 1);
};

const sentAtMs = () =>
  receiver.received
    .filter(({ path }) => path === "/hook")
    .map(({ headers }) => Number(headers["service-timestamp"]) * 1000);

describe("fifteen hours of retries, with every process replaced before each of them", () => {
  test.each([
    ["the least spread", 0, 1],
    ["some spread", 0.4, 1.02],
    ["the most spread", 1, 1.05],
  ])(
    "follow the schedule with %s: no attempt a millisecond early (rule HOOK-14)",
    async (_name, spread, factor) => {
      random = spread;
      const person = rig.signIn();
      const endpoint = await rig.register(person);
      let running = await replace([]);
      await rig.tellCompleted(person);
      const expectedMs = [rig.clock.now().getTime()];
      for (const [index, gapMs] of gapsMs.entries()) {
        await attemptsOver(person, endpoint, index + 1);
        running = await replace(running);
        rig.clock.advance(Math.round(gapMs * factor) - 1);
        await queueLookedAt();
        expect(sentAtMs()).toHaveLength(index + 1);
        rig.clock.advance(1);
        expectedMs.push(rig.clock.now().getTime());
      }
      const failed = {
        status: "Failed",
        httpStatus: 503,
        error: "status 503",
        nextAttemptAt: null,
      };
      expect(await attemptsOver(person, endpoint, 6)).toMatchObject(failed);
      running = await replace(running);
      rig.clock.advance(7 * 24 * 3_600_000);
      await queueLookedAt();
      expect(sentAtMs()).toEqual(expectedMs.map((instant) => Math.floor(instant / 1000) * 1000));
      const hours = (Math.max(...sentAtMs()) - Math.min(...sentAtMs())) / 3_600_000;
      expect([hours > 14.5, hours < 15.5]).toEqual([true, true]);
      const ids = receiver.received.flatMap(({ path, body }) =>
        path === "/hook" ? [body.id] : [],
      );
      expect(new Set(ids).size).toBe(1);
    },
  );
});
