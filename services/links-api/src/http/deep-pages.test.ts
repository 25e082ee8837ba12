import { expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

const rig = useRig(createRig);

const EmptyRow = z.object({});
const path = "/v1/payment-link";
const deepPath = `${path}?offset=1000000`;

/** Runs work while nobody can read links; then all goes on. */
const whileLinksLocked = async (run: () => Promise<void>): Promise<void> => {
  const lockReleased = Promise.withResolvers<void>();
  const lockAcquired = Promise.withResolvers<void>();
  const lockTransaction = rig.pool.transaction(async (tx) => {
    await tx.query(sql.type(EmptyRow)`LOCK TABLE links IN ACCESS EXCLUSIVE MODE`);
    lockAcquired.resolve();
    await lockReleased.promise;
  });
  await lockAcquired.promise;
  try {
    await run();
  } finally {
    lockReleased.resolve();
    await lockTransaction;
  }
};

/** Waits until so many connections wait for links. */
const waitUntilConnectionsWait = (count: number) =>
  waitUntil(
    `${count} connections wait for links`,
    async () => rig.pool.state().acquiredConnections > count,
  );

// Guards the neighbours of whoever reads far down a list: with every connection taken by such pages,
// they would wait until those are read.
test("pages far down lists hold one connection, whoever asks, and a neighbour's list another (rule API-26)", async () => {
  const headers = Array.from({ length: 6 }, () => rig.createKeyHeaders(sampleAccount()));
  const neighbourKeyHeaders = rig.createKeyHeaders(sampleAccount());
  await rig.createLink(neighbourKeyHeaders, { toAmount: "1" });
  const calls: ReturnType<typeof rig.call>[] = [];
  await whileLinksLocked(async () => {
    for (const keyHeaders of headers) {
      calls.push(rig.call(deepPath, { headers: keyHeaders }));
      // By the time that a later call is answered, this one is under way.
      await rig.call(path);
    }
    await waitUntilConnectionsWait(1);
    calls.push(rig.call(path, { headers: neighbourKeyHeaders }));
    await waitUntilConnectionsWait(2);
    // The test's own is the third.
    const { acquiredConnections, waitingClients } = rig.pool.state();
    expect([acquiredConnections, waitingClients]).toEqual([3, 0]);
  });
  const responses = await Promise.all(calls);
  expect(responses.map(({ status }) => status)).toEqual(calls.map(() => 200));
  expect(responses.at(-1)?.json.data).toHaveLength(1);
});

test("an account that asks for another page far down meanwhile is told to come back (rule API-26)", async () => {
  const account = sampleAccount();
  const [headers, sessionHeaders] = [
    rig.createKeyHeaders(account),
    rig.createSessionHeaders(account),
  ];
  const calls: ReturnType<typeof rig.call>[] = [];
  await whileLinksLocked(async () => {
    calls.push(rig.call(deepPath, { headers }));
    await waitUntilConnectionsWait(1);
    const repeatedResponses = [
      await rig.call(deepPath, { headers }),
      await rig.call("/console/api/payment-links?offset=10000", { headers: sessionHeaders }),
    ];
    for (const { status, headers: responseHeaders, json } of repeatedResponses) {
      const actual = [status, json.errors[0].code, responseHeaders.get("retry-after")];
      expect(actual).toEqual([429, "429", "1"]);
    }
  });
  const emptyPage = { data: [], limit: 10, offset: 1_000_000, nextOffset: null };
  expect((await calls[0])?.json).toEqual(emptyPage);
  expect((await rig.call(deepPath, { headers })).json).toEqual(emptyPage);
});
