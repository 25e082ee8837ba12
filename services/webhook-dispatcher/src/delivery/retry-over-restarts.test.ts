import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Receiver, respondWithStatus, startReceiver } from "../testing/start-receiver.ts";
import {
  type Person,
  type RegisteredEndpoint,
  type Rig,
  createRig,
} from "../testing/create-rig.ts";

const gapsMs = [30_000, 300_000, 1_800_000, 7_200_000, 43_200_000];

let receiver: Receiver;
let rig: Rig;
/** Determines the jitter of the next retry, from 0 to 1. */
let random: number;
beforeEach(async () => {
  receiver = await startReceiver();
  receiver.respondWith((res, { path }) => respondWithStatus(path === "/hook" ? 503 : 200)(res));
  rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${receiver.origin}` },
    outside: { random: () => random },
  });
});
afterEach(async () => {
  await rig.close();
  await receiver.close();
});

type RunningDispatcher = Awaited<ReturnType<Rig["startAnother"]>>;

/** Replaces all processes as in a rolling deployment: starts new ones before stopping the old ones. */
const replaceDispatchers = async (
  runningDispatchers: readonly RunningDispatcher[],
): Promise<RunningDispatcher[]> => {
  const newDispatchers = [await rig.startAnother(), await rig.startAnother()];
  await Promise.all(runningDispatchers.map(({ service }) => service.stop()));
  return newDispatchers;
};

const waitForAttempt = (person: Person, endpoint: RegisteredEndpoint, attempts: number) =>
  waitUntil(`attempt ${attempts} has ended`, async () => {
    const [entry] = await rig.readLog(person, endpoint);
    const isUnderWay = entry?.["status"] === "Pending" && entry["nextAttemptAt"] === null;
    return entry?.["attempts"] === attempts && !isUnderWay ? entry : undefined;
  });

/** Waits until the queue has been polled at least once since the call. */
const waitForQueuePoll = async () => {
  const probeUser = rig.signIn();
  const endpoint = await rig.register(probeUser, "/witness");
  await rig.publishCompleted(probeUser);
  await waitForAttempt(probeUser, endpoint, 1);
};

const listSentAtMs = () =>
  receiver.received
    .filter(({ path }) => path === "/hook")
    .map(({ headers }) => Number(headers["service-timestamp"]) * 1000);

describe("fifteen hours of retries, with all processes replaced before each one", () => {
  test.each([
    ["no jitter", 0, 1],
    ["some jitter", 0.4, 1.02],
    ["maximum jitter", 1, 1.05],
  ])(
    "follow the schedule with %s, not a millisecond early (rule HOOK-14)",
    async (_name, randomValue, factor) => {
      random = randomValue;
      const person = rig.signIn();
      const endpoint = await rig.register(person);
      let runningDispatchers = await replaceDispatchers([]);
      await rig.publishCompleted(person);
      const expectedMs = [rig.clock.now().getTime()];
      for (const [index, gapMs] of gapsMs.entries()) {
        await waitForAttempt(person, endpoint, index + 1);
        runningDispatchers = await replaceDispatchers(runningDispatchers);
        rig.clock.advance(Math.round(gapMs * factor) - 1);
        await waitForQueuePoll();
        expect(listSentAtMs()).toHaveLength(index + 1);
        rig.clock.advance(1);
        expectedMs.push(rig.clock.now().getTime());
      }
      const failedEntry = {
        status: "Failed",
        httpStatus: 503,
        error: "status 503",
        nextAttemptAt: null,
      };
      expect(await waitForAttempt(person, endpoint, 6)).toMatchObject(failedEntry);
      runningDispatchers = await replaceDispatchers(runningDispatchers);
      rig.clock.advance(7 * 24 * 3_600_000);
      await waitForQueuePoll();
      expect(listSentAtMs()).toEqual(
        expectedMs.map((instant) => Math.floor(instant / 1000) * 1000),
      );
      const hours = (Math.max(...listSentAtMs()) - Math.min(...listSentAtMs())) / 3_600_000;
      expect([hours > 14.5, hours < 15.5]).toEqual([true, true]);
      const ids = receiver.received.flatMap(({ path, body }) =>
        path === "/hook" ? [body.id] : [],
      );
      expect(new Set(ids).size).toBe(1);
    },
  );
});
