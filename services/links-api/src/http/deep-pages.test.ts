import { expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

const rig = useRig(openRig);

const Nothing = z.object({});
const path = "/v1/payment-link";
const deep = `${path}?offset=1000000`;

/** Runs work while nobody can read links; then all goes on. */
const whileHeld = async (work: () => Promise<void>): Promise<void> => {
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = rig.pool.transaction(async (tx) => {
    await tx.query(sql.type(Nothing)`LOCK TABLE links IN ACCESS EXCLUSIVE MODE`);
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  try {
    await work();
  } finally {
    held.resolve();
    await holding;
  }
};

/** Waits until so many connections wait for links. */
const untilWaiting = (count: number) =>
  waitUntil(
    `${count} connections wait for links`,
    async () => rig.pool.state().acquiredConnections > count,
  );

// Guards the neighbours of whoever reads far down a list: with every connection taken by such pages,
// they would wait until those are read.
test("pages far down lists hold one connection, whoever asks, and a neighbour's list another (rule API-26)", async () => {
  const headers = Array.from({ length: 6 }, () => rig.giveKey(sampleAccount()));
  const neighbour = rig.giveKey(sampleAccount());
  await rig.createLink(neighbour, { toAmount: "1" });
  const calls: ReturnType<typeof rig.call>[] = [];
  await whileHeld(async () => {
    for (const one of headers) {
      calls.push(rig.call(deep, { headers: one }));
      // By the time that a later call is answered, this one is under way.
      await rig.call(path);
    }
    await untilWaiting(1);
    calls.push(rig.call(path, { headers: neighbour }));
    await untilWaiting(2);
    // The test's own is the third.
    const { acquiredConnections, waitingClients } = rig.pool.state();
    expect([acquiredConnections, waitingClients]).toEqual([3, 0]);
  });
  const answers = await Promise.all(calls);
  expect(answers.map(({ status }) => status)).toEqual(calls.map(() => 200));
  expect(answers.at(-1)?.json.data).toHaveLength(1);
});

test("an account that asks for another page far down meanwhile is told to come back (rule API-26)", async () => {
  const account = sampleAccount();
  const [headers, cookie] = [rig.giveKey(account), rig.giveSession(account)];
  const calls: ReturnType<typeof rig.call>[] = [];
  await whileHeld(async () => {
    calls.push(rig.call(deep, { headers }));
    await untilWaiting(1);
    const again = [
      await rig.call(deep, { headers }),
      await rig.call("/console/api/payment-links?offset=10000", { headers: cookie }),
    ];
    for (const { status, headers: told, json } of again) {
      const refused = [status, json.errors[0].code, told.get("retry-after")];
      expect(refused).toEqual([429, "429", "1"]);
    }
  });
  const end = { data: [], limit: 10, offset: 1_000_000, nextOffset: null };
  expect((await calls[0])?.json).toEqual(end);
  expect((await rig.call(deep, { headers })).json).toEqual(end);
});
