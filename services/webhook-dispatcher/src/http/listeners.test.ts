import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import type { PaymentLinkState } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  type EventStream,
  openEventStream,
} from "@payment-links/runtime/testing/open-event-stream";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sql } from "slonik";
import * as z from "zod";
import { storeListenerEvents } from "../events/store-listener-events.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleLink } from "../testing/samples.ts";

const rig = useRig(async () => {
  const newRig = await createRig({ environment: { WEBHOOK_HEADER_PREFIX: "Acme" } });
  await newRig.service.start();
  return newRig;
});

const listenersPath = "/command/webhook-listeners";

const Listener = z.object({ id: z.string(), secret: z.string(), headerPrefix: z.string() });
type Listener = z.output<typeof Listener>;

const request = (key: string, method: string, path: string, headers = {}) =>
  fetch(`${rig.publicUrl}${path}`, { method, headers: { "x-api-key": key, ...headers } });

const createListener = async (key: string): Promise<Listener> => {
  const response = await request(key, "POST", listenersPath);
  expect(response.status).toBe(201);
  return Listener.parse(await response.json());
};

const readErrorCode = async (response: Response): Promise<string | undefined> =>
  z.object({ errors: z.array(z.object({ code: z.string() })) }).parse(await response.json())
    .errors[0]?.code;

type StreamEvent = { id: string; name: string; data: Record<string, unknown> };

/** Follows a listener until the stream is closed. The events that arrived so far are in `events`. */
const follow = async (key: string, { id }: { id: string }, lastEventId?: string) => {
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const response = await request(key, "GET", `${listenersPath}/${id}/events`, headers);
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/event-stream",
  ]);
  const stream = { events: [] as StreamEvent[], isEnded: false, close: async () => {} };
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("the stream has no body");
  const decoder = new TextDecoder();
  let text = "";
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      stream.events.push(...blocks.flatMap(parseBlock));
    }
    stream.isEnded = true;
  };
  const reading = read();
  stream.close = async () => {
    await reader.cancel();
    await reading.catch(() => {});
  };
  return stream;
};

const parseBlock = (block: string): StreamEvent[] => {
  const fields = Object.fromEntries(
    block.split("\n").map((line) => {
      const index = line.indexOf(": ");
      return [line.slice(0, index), line.slice(index + 2)];
    }),
  );
  const { id, event: name, data } = fields;
  if (id === undefined || name === undefined || data === undefined) return [];
  return [{ id, name, data: JSON.parse(data) as Record<string, unknown> }];
};

const countRows = (listenerId: string) =>
  rig.pool.one(sql.type(z.object({ listeners: z.int(), events: z.int() }))`
    SELECT (SELECT count(*)::int FROM listeners WHERE id = ${listenerId}) AS listeners,
      (SELECT count(*)::int FROM listener_events WHERE listener_id = ${listenerId}) AS events
  `);

/** Stores events of a link for the listeners of its account, as another process does. */
const storeEvents = (link: PaymentLinkState, eventIds: readonly string[]) => {
  const { id: linkId, userId } = link;
  const now = rig.clock.now();
  const listEvents = () =>
    eventIds.map((eventId) => ({
      userId,
      eventId,
      linkId,
      eventType: "payment_link.completed" as const,
      occurredAt: now,
      transaction: null,
      isDueTo: () => true,
    }));
  return transact(rig.pool, (tx) =>
    storeListenerEvents(tx, { userIds: [userId], now, listEvents }),
  );
};

const minuteMs = 60_000;

describe("webhook listeners", () => {
  test("send each event once connected, as a webhook signed with the listener's secret (rule HOOK-22)", async () => {
    const person = rig.signIn();
    const key = rig.createKey(person);
    const listener = await createListener(key);
    expect(listener).toEqual({
      id: expect.stringMatching(/^whl_/),
      secret: expect.stringMatching(/^whsec_[0-9a-f]{64}$/),
      headerPrefix: "Acme",
    });
    await rig.publishCompleted(person);
    const stream = await follow(key, listener);
    await rig.publishCompleted(person);
    await waitUntil("both events arrive", () => stream.events.length === 2);
    expect(stream.events.map(({ id, name }) => [id, name])).toEqual([
      ["1", "webhook"],
      ["2", "webhook"],
    ]);
    for (const { data } of stream.events) {
      const { body, headers } = z
        .object({ body: z.string(), headers: z.record(z.string(), z.string()) })
        .parse(data);
      const timestamp = headers["Acme-Timestamp"];
      const digest = createHmac("sha256", listener.secret).update(`${timestamp}.${body}`);
      expect(headers).toEqual({
        "Content-Type": "application/json",
        "User-Agent": "PaymentLinks-Webhooks/1.0",
        "Accept-Encoding": "identity",
        "Acme-Signature": `v1=${digest.digest("hex")}`,
        "Acme-Timestamp": String(Math.floor(rig.clock.now().getTime() / 1000)),
        "Acme-Event-Id": (JSON.parse(body) as { id: string }).id,
      });
      expect(JSON.parse(body)).toMatchObject({ type: "payment_link.completed" });
    }
    expect(new Set(stream.events.map(({ data }) => data["body"])).size).toBe(2);
    await stream.close();
  });

  test("send unacknowledged events again, and delete acknowledged ones (rule HOOK-22)", async () => {
    const person = rig.signIn();
    const key = rig.createKey(person);
    const listener = await createListener(key);
    for (let count = 0; count < 3; count += 1) await rig.publishCompleted(person);
    const first = await follow(key, listener);
    await waitUntil("all events arrive", () => first.events.length === 3);
    await first.close();
    const second = await follow(key, listener, "2");
    await waitUntil("the last event arrives again", () => second.events.length === 1);
    expect(second.events.map(({ id }) => id)).toEqual(["3"]);
    const eventIds = [first.events[2], second.events[0]].map(
      (event) => (JSON.parse(String(event?.data["body"])) as { id: string }).id,
    );
    expect(eventIds[0]).toBe(eventIds[1]);
    expect(await countRows(listener.id)).toEqual({ listeners: 1, events: 1 });
    await second.close();
    // A number that was never sent acknowledges nothing further.
    const third = await follow(key, listener, "999");
    await rig.publishCompleted(person);
    await waitUntil("the new event arrives", () => third.events.length === 1);
    expect(third.events.map(({ id }) => id)).toEqual(["4"]);
    await third.close();
  });

  test("receive only their own account's events, and create no deliveries (rule HOOK-22)", async () => {
    const [person, other] = [rig.signIn(), rig.signIn()];
    const key = rig.createKey(person);
    const listener = await createListener(key);
    await rig.publishCompleted(other);
    const linkId = sampleLink().id;
    await rig.publishCompleted(person, { id: linkId });
    const stream = await follow(key, listener);
    await waitUntil("the event arrives", () => stream.events.length === 1);
    expect(String(stream.events[0]?.data["body"])).toContain(linkId);
    const otherKey = rig.createKey(other);
    const itemPath = `${listenersPath}/${listener.id}`;
    expect((await request(otherKey, "GET", `${itemPath}/events`)).status).toBe(404);
    expect((await request(otherKey, "DELETE", itemPath)).status).toBe(404);
    const pendingCount = await rig.pool.oneFirst(sql.type(z.object({ count: z.int() }))`
      SELECT count(*)::int AS count FROM deliveries
    `);
    expect(pendingCount).toBe(0);
    await stream.close();
  });

  test("store at most 1,000 events and say how many were dropped (rule HOOK-23)", async () => {
    const person = rig.signIn();
    const key = rig.createKey(person);
    const listener = await createListener(key);
    const link = sampleLink({ userId: person.userId });
    await rig.publishCompleted(person, link);
    for (let batch = 0; batch < 5; batch += 1)
      await storeEvents(
        link,
        Array.from({ length: 201 }, (_, index) => `evt_${batch}_${index}`),
      );
    expect(await countRows(listener.id)).toEqual({ listeners: 1, events: 1_000 });
    const stream = await follow(key, listener);
    await waitUntil("the stream ends", () => stream.isEnded);
    expect(stream.events[0]).toEqual({ id: "6", name: "dropped", data: { count: 6 } });
    // After 100 events, the client has to connect again, which acknowledges them.
    expect(stream.events.slice(1).map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 7),
    );
    await (await follow(key, listener, "106")).close();
    expect(await countRows(listener.id)).toEqual({ listeners: 1, events: 900 });
  });

  test("are limited to 3 per account, even in concurrent requests (rule HOOK-22)", async () => {
    const person = rig.signIn();
    const key = rig.createKey(person);
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => request(key, "POST", listenersPath)),
    );
    const rejected = responses.filter(({ status }) => status === 409);
    expect(rejected).toHaveLength(5);
    expect(await readErrorCode(rejected[0] as Response)).toBe("WEBHOOK_LISTENER_LIMIT");
    const created = responses.find(({ status }) => status === 201) as Response;
    const { id } = Listener.parse(await created.json());
    expect((await request(key, "DELETE", `${listenersPath}/${id}`)).status).toBe(204);
    expect((await request(key, "DELETE", `${listenersPath}/${id}`)).status).toBe(404);
    await createListener(key);
    await createListener(rig.createKey(rig.signIn()));
    // Each endpoint can still be registered.
    for (let count = 0; count < 5; count += 1)
      expect((await rig.register(person, "https://shop.com/")).id).toMatch(/^whe_/);
  });

  test("end 5 minutes after their last connection and leave no rows (rule HOOK-23)", async () => {
    const person = rig.signIn();
    const key = rig.createKey(person);
    const listener = await createListener(key);
    await rig.publishCompleted(person);
    rig.clock.advance(4 * minuteMs);
    await (await follow(key, listener)).close();
    rig.clock.advance(4 * minuteMs);
    await rig.publishCompleted(person);
    expect(await countRows(listener.id)).toEqual({ listeners: 1, events: 2 });
    await (await follow(key, listener)).close();
    rig.clock.advance(5 * minuteMs);
    expect((await request(key, "GET", `${listenersPath}/${listener.id}/events`)).status).toBe(404);
    await rig.publishCompleted(person);
    await waitUntil("the rows are deleted", async () => {
      rig.clock.advance(minuteMs);
      const { listeners, events } = await countRows(listener.id);
      return listeners + events === 0;
    });
  });

  test("find events that another process stored, and end their stream after a minute or when they are deleted (rule HOOK-22)", async () => {
    const person = rig.signIn();
    const key = rig.createKey(person);
    const listener = await createListener(key);
    const stream = await follow(key, listener);
    const link = sampleLink();
    await rig.publishCompleted(link, link);
    await storeEvents({ ...link, userId: person.userId }, ["evt_elsewhere"]);
    await waitUntil("the event arrives", () => {
      rig.clock.advance(500);
      return stream.events.length === 1;
    });
    await waitUntil("the stream ends", () => {
      rig.clock.advance(10_000);
      return stream.isEnded;
    });
    const nextStream = await follow(key, listener, "1");
    await request(key, "DELETE", `${listenersPath}/${listener.id}`);
    await waitUntil("the stream of the deleted listener ends", () => nextStream.isEnded);
  });

  test("get a comment before their stream is silent for 15 s (rule HOOK-22)", async () => {
    const key = rig.createKey(rig.signIn());
    const { id } = await createListener(key);
    const headers = { "x-api-key": key };
    const stream = await openEventStream(`${rig.publicUrl}${listenersPath}/${id}/events`, {
      headers,
    });
    await waitUntil("the first comment arrives", () => stream.commentCount() === 1);
    rig.clock.advance(14_000);
    // In small steps, because a run of the loop that is under way waits another 500 ms.
    let passedMs = 14_000;
    await waitUntil("the next comment arrives", () => {
      if (passedMs < 14_900) {
        rig.clock.advance(50);
        passedMs += 50;
      }
      return stream.commentCount() === 2;
    });
    stream.close();
  });

  test("have at most 300 streams per process, even by concurrent requests, and can always replace their own", async () => {
    const otherRig = await createRig();
    const open = ({ key, id }: { key: string; id: string }) =>
      openEventStream(`${otherRig.publicUrl}${listenersPath}/${id}/events`, {
        headers: { "x-api-key": key },
      });
    const streams: EventStream[] = [];
    try {
      const keys = Array.from({ length: 101 }, () => otherRig.createKey(otherRig.signIn()));
      const listeners: { key: string; id: string }[] = [];
      for (const key of [...keys, ...keys, ...keys]) {
        const options = { method: "POST", headers: { "x-api-key": key } };
        const response = await fetch(`${otherRig.publicUrl}${listenersPath}`, options);
        listeners.push({ key, id: Listener.parse(await response.json()).id });
      }
      streams.push(...(await Promise.all(listeners.map(open))));
      const rejected = streams.filter(({ status }) => status !== 200);
      expect(rejected.map(({ status, headers }) => [status, headers["retry-after"]])).toEqual(
        Array.from({ length: 3 }, () => [503, "10"]),
      );
      const connected = listeners.find((_, index) => streams[index]?.status === 200);
      const replacement = await open(connected as (typeof listeners)[number]);
      streams.push(replacement);
      expect(replacement.status).toBe(200);
    } finally {
      for (const { close } of streams) close();
      await otherRig.close();
    }
  });

  test("receive only the webhooks of their key's mode, and only keys of this mode can use them (rule MODE-5)", async () => {
    const person = rig.signIn();
    const keys = { live: rig.createKey(person), test: rig.createKey(person, "test") };
    const listeners = {
      live: await createListener(keys.live),
      test: await createListener(keys.test),
    };
    const stream = await follow(keys.test, listeners.test);
    const liveStream = await follow(keys.live, listeners.live);
    const [liveLink, testLink] = [sampleLink(), sampleLink({ mode: "test" })];
    await rig.publishCompleted(person, { ...liveLink, userId: person.userId });
    await rig.publishCompleted(person, { ...testLink, userId: person.userId });
    await waitUntil("both events arrive", () =>
      [stream, liveStream].every(({ events }) => events.length > 0),
    );
    const listBodies = ({ events }: typeof stream) => events.map(({ data }) => data["body"]);
    expect(listBodies(stream)).toEqual([expect.stringContaining(testLink.id)]);
    expect(listBodies(liveStream)).toEqual([expect.stringContaining(liveLink.id)]);
    const path = `${listenersPath}/${listeners.test.id}`;
    expect((await request(keys.live, "GET", `${path}/events`)).status).toBe(404);
    expect((await request(keys.live, "DELETE", path)).status).toBe(404);
    await Promise.all([stream.close(), liveStream.close()]);
  });

  test("store their secret only sealed (rule HOOK-22)", async () => {
    const { id, secret } = await createListener(rig.createKey(rig.signIn()));
    const row = await rig.pool.oneFirst(sql.type(z.object({ text: z.string() }))`
      SELECT row_to_json(listeners)::text AS text FROM listeners WHERE id = ${id}
    `);
    const digits = secret.slice("whsec_".length);
    expect(row).not.toContain(digits);
    expect(row).not.toContain(Buffer.from(digits).toString("hex"));
    expect(rig.logLines.join("")).not.toContain(digits);
  });
});
