import { randomBytes } from "node:crypto";
import { outgoing, type OutgoingEvent } from "@payment-links/bus";
import { type PaymentLinkState, hashSecret, linkCompleted, newId } from "@payment-links/contracts";
import type { Ask } from "@payment-links/identity";
import { holdAnswer, openTestGround, serveForTest } from "@payment-links/process/testing";
import { openMetrics, readConfig } from "@payment-links/runtime";
import * as z from "zod";
import type { Outside } from "../guard/outside.ts";
import {
  createWebhookDispatcher,
  webhookDispatcherConfig,
  webhookDispatcherMigration,
} from "../service.ts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";
import { sampleLink } from "./samples.ts";

/** The key under which the rig's secrets are sealed. */
export const sealingKey = `first=${Buffer.alloc(32, 7).toString("base64")}`;

type RigOptions = { environment?: Record<string, string>; outside?: Partial<Outside> };

/** A signed-in person of the console. */
export type Person = { userId: string; token: string };

/** An endpoint as its owner got it, with its path in the console's API. */
export type RegisteredEndpoint = { id: string; secret: string; path: string };

type Told = { id?: string; traceparent?: string };

/**
 * The service on a database of its own, listening on loopback, with a clock that stands still. It is
 * not started until a test does; more dispatchers of the same database can be started beside it.
 */
export const openRig = async ({ environment = {}, outside = {} }: RigOptions = {}) => {
  const people = new Map<string, KnownPerson>();
  const testGround = await openTestGround({
    name: "webhook-dispatcher",
    migration: webhookDispatcherMigration,
    change: { ask: askFor(people), checkoutUrl: "https://pay.example.com" },
  });
  const { bus, clock } = testGround;

  const create = (more: Record<string, string> = {}) => {
    const metrics = openMetrics("webhook-dispatcher");
    const config = readConfig(webhookDispatcherConfig, {
      WEBHOOK_SECRET_KEYS: sealingKey,
      ...environment,
      ...more,
    });
    const service = createWebhookDispatcher({ ...testGround.ground, metrics }, config, {
      resolve: () => Promise.resolve(["93.184.216.34"]),
      random: () => 0,
      ...outside,
    });
    return { service, metrics };
  };
  const first = create();
  const started = [first.service];
  const served = await serveForTest(first.service, testGround.ground);

  /** Calls the console's API as that person; answers the status and the JSON. */
  const call = (person: Person, method: string, path: string, body?: unknown) =>
    callConsole(`${served.publicUrl}${path}`, person, method, body);

  /** Publishes an event on the bus; ends once it is applied. Answers its id. */
  const tell = async (event: OutgoingEvent, told: Told = {}): Promise<string> => {
    const { id = newId("evt"), traceparent } = told;
    const record = recordOf(event, id);
    const headers = { ...record.headers, ...(traceparent === undefined ? {} : { traceparent }) };
    await bus.publish([{ ...record, headers }]);
    return id;
  };

  return {
    ...testGround,
    service: first.service,
    metrics: first.metrics,
    publicUrl: served.publicUrl,
    internalUrl: served.internalUrl,
    /** Starts another dispatcher on the same database and bus. */
    startAnother: async (more: Record<string, string> = {}) => {
      const { service, metrics } = create(more);
      started.push(service);
      await service.start();
      return { service, metrics };
    },
    /** Signs a new person in, who proved to be there at that time, or does so all the time. */
    signIn: (provenAt = atAnyTime): Person => {
      const person = { userId: newId("user"), token: randomBytes(24).toString("base64url") };
      const { userId } = person;
      people.set(hashSecret(person.token).toString("hex"), { userId, provenAt });
      return person;
    },
    call,
    /** Registers an endpoint of that person at `https://receiver.test` or another URL. */
    register: async (person: Person, at = "/hook"): Promise<RegisteredEndpoint> => {
      const url = new URL(at, "https://receiver.test").href;
      const { json } = await call(person, "POST", endpointsPath, { url, name: "Shop" });
      return { id: json.id, secret: json.secret, path: `${endpointsPath}/${json.id}` };
    },
    /** The first page of an endpoint's log. */
    readLog: async (person: Person, endpoint: { path: string }) =>
      (await call(person, "GET", `${endpoint.path}/deliveries`)).json.data,
    tell,
    recordOf,
    /** Publishes that a link is completed now; by default a fresh link of that person. */
    tellCompleted: ({ userId }: { userId: string }, change: Partial<PaymentLinkState> = {}) => {
      const link = sampleLink({ userId, ...change });
      const occurredAt = clock.now();
      return tell(outgoing(linkCompleted, { key: link.id, occurredAt, data: { link } }));
    },
    close: async () => {
      await served.close();
      // Attempts under way end at their deadline, which never comes by a clock that stands still.
      const ticking = setInterval(() => clock.advance(60_000), 10);
      await Promise.all(started.map((service) => service.stop()));
      clearInterval(ticking);
      await testGround.close();
    },
  };
};
export type Rig = Awaited<ReturnType<typeof openRig>>;

export const endpointsPath = "/console/api/webhook-endpoints";

type KnownPerson = { userId: string; provenAt: Date };

const atAnyTime = new Date(8.64e15);

const askFor =
  (people: ReadonlyMap<string, KnownPerson>): Ask =>
  ({ hash }) => {
    const person = people.get(hash);
    if (person === undefined) return Promise.resolve({ found: false });
    const { userId, provenAt } = person;
    const id = newId("sess");
    return Promise.resolve({
      found: true,
      account: sampleAccount({ id: userId }),
      credential: {
        id,
        bucketId: id,
        scopes: [],
        expiresAt: null,
        method: "passkey",
        presence: { provenAt, methods: ["link", "siwe"] },
      },
    });
  };

/** An event as it lies on the bus. */
const recordOf = ({ event, key, occurredAt, data }: OutgoingEvent, id: string) => ({
  topic: event.topic,
  key,
  headers: {
    ce_specversion: "1.0",
    ce_id: id,
    ce_source: "links-api",
    ce_type: event.type,
    ce_time: occurredAt.toISOString(),
  },
  value: JSON.stringify(z.encode(event.data, data)),
});

/** The parts of the console API's answers that tests look at. */
const Answer = z.looseObject({
  errors: z.array(z.looseObject({ code: z.string() })).default([]),
  data: z.array(z.record(z.string(), z.unknown())).default([]),
  id: z.string().default(""),
  secret: z.string().default(""),
});

const callConsole = async (url: string, person: Person, method: string, body: unknown) => {
  const response = await fetch(url, {
    method,
    headers: { cookie: `session-webhooks=${person.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const told: unknown = text === "" ? {} : JSON.parse(text);
  holdAnswer({ method, path: new URL(url).pathname, status: response.status, json: told });
  const json = Answer.parse(told);
  return { status: response.status, json, codes: json.errors.map((error) => error.code) };
};
