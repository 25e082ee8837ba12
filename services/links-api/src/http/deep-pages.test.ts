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

/** Calls `run` while all reads of `links` are blocked. */
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

/** Waits until `count` connections are waiting for `links`. */
const waitUntilConnectionsWait = (count: number) =>
  waitUntil(
    `${count} connections wait for the links table`,
    async () => rig.pool.state().acquiredConnections > count,
  );

// Guards other accounts: without a limit, deep pages could occupy every connection and block all
// other requests.
test("deep pages of all accounts share one connection, so another account's list is not blocked (rule API-26)", async () => {
  const headers = Array.from({ length: 6 }, () => rig.createKeyHeaders(sampleAccount()));
  const neighbourKeyHeaders = rig.createKeyHeaders(sampleAccount());
  await rig.createLink(neighbourKeyHeaders, { toAmount: "1" });
  const calls: ReturnType<typeof rig.call>[] = [];
  await whileLinksLocked(async () => {
    for (const keyHeaders of headers) {
      calls.push(rig.call(deepPath, { headers: keyHeaders }));
      // When this later request has been answered, the deep page request is in progress.
      await rig.call(path);
    }
    await waitUntilConnectionsWait(1);
    calls.push(rig.call(path, { headers: neighbourKeyHeaders }));
    await waitUntilConnectionsWait(2);
    // The test itself uses the third connection.
    const { acquiredConnections, waitingClients } = rig.pool.state();
    expect([acquiredConnections, waitingClients]).toEqual([3, 0]);
  });
  const responses = await Promise.all(calls);
  expect(responses.map(({ status }) => status)).toEqual(calls.map(() => 200));
  expect(responses.at(-1)?.json.data).toHaveLength(1);
});

test("rejects an account's second deep page while its first one is in progress (rule API-26)", async () => {
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
      await rig.call(`${path}?updatedAfter=2026-11-21&status=completed`, { headers }),
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
