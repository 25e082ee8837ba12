import { randomBytes } from "node:crypto";
import { createOutgoingEvent, type OutgoingEvent } from "@payment-links/bus";
import {
  type Mode,
  type PaymentLinkState,
  generateApiKey,
  hashSecret,
  linkCompleted,
  newId,
} from "@payment-links/contracts";
import type { RequestIntrospection } from "@payment-links/identity";
import {
  assertDocumentedResponse,
  createTestContext,
  startTestListeners,
} from "@payment-links/process/testing";
import { createMetrics, parseConfig } from "@payment-links/runtime";
import * as z from "zod";
import type { ExternalDependencies } from "../guard/external-dependencies.ts";
import {
  createWebhookDispatcher,
  webhookDispatcherConfig,
  webhookDispatcherMigration,
} from "../service.ts";
import { createSampleAccount } from "@payment-links/contracts/testing/sample-account";
import { sampleLink } from "./samples.ts";

/** The key that seals the rig's secrets. */
export const sealingKey = `first=${Buffer.alloc(32, 7).toString("base64")}`;

type RigOptions = { environment?: Record<string, string>; outside?: Partial<ExternalDependencies> };

/** A user signed in to the console. */
export type Person = { userId: string; token: string };

/** An endpoint as returned to its owner, with its path in the console API. */
export type RegisteredEndpoint = { id: string; secret: string; path: string };

type PublishOptions = { id?: string; traceparent?: string };

/**
 * Creates the service on its own database, listening on loopback, with a fake clock. The test
 * starts it. More dispatchers can be started on the same database.
 */
export const createRig = async ({ environment = {}, outside = {} }: RigOptions = {}) => {
  const people = new Map<string, SignedInPerson>();
  const testContext = await createTestContext({
    name: "webhook-dispatcher",
    migration: webhookDispatcherMigration,
    overrides: {
      requestIntrospection: createIntrospect(people),
      checkoutUrl: "https://pay.example.com",
    },
  });
  const { bus, clock } = testContext;

  const create = (extraEnvironment: Record<string, string> = {}) => {
    const metrics = createMetrics("webhook-dispatcher");
    const config = parseConfig(webhookDispatcherConfig, {
      WEBHOOK_SECRET_KEYS: sealingKey,
      ...environment,
      ...extraEnvironment,
    });
    const service = createWebhookDispatcher({ ...testContext.context, metrics }, config, {
      resolve: () => Promise.resolve(["93.184.216.34"]),
      random: () => 0,
      ...outside,
    });
    return { service, metrics };
  };
  const first = create();
  const started = [first.service];
  const server = await startTestListeners(first.service, testContext.context);

  /** Calls the console API as the user. Returns the status and the JSON. */
  const call = (person: Person, method: string, path: string, body?: unknown) =>
    callConsole(`${server.publicUrl}${path}`, person, method, body);

  /** Publishes an event on the bus and waits until it is applied. Returns its id. */
  const publish = async (event: OutgoingEvent, options: PublishOptions = {}): Promise<string> => {
    const { id = newId("evt"), traceparent } = options;
    const record = toKafkaRecord(event, id);
    const headers = { ...record.headers, ...(traceparent === undefined ? {} : { traceparent }) };
    await bus.publish([{ ...record, headers }]);
    return id;
  };

  return {
    ...testContext,
    service: first.service,
    metrics: first.metrics,
    publicUrl: server.publicUrl,
    internalUrl: server.internalUrl,
    /** Starts another dispatcher on the same database and bus. */
    startAnother: async (extraEnvironment: Record<string, string> = {}) => {
      const { service, metrics } = create(extraEnvironment);
      started.push(service);
      await service.start();
      return { service, metrics };
    },
    /**
     * Signs in a new user. The user proved presence at the given time or, by default, always has a
     * valid proof.
     */
    signIn: (provenAt = endOfTime): Person => {
      const person = { userId: newId("user"), token: randomBytes(24).toString("base64url") };
      const { userId } = person;
      people.set(hashSecret(person.token).toString("hex"), { userId, provenAt });
      return person;
    },
    /** Creates an API key of the user that can read links. */
    createKey: ({ userId }: { userId: string }, mode: Mode = "live"): string => {
      const key = generateApiKey(mode);
      people.set(hashSecret(key).toString("hex"), { userId, provenAt: endOfTime, mode });
      return key;
    },
    call,
    /** Registers an endpoint of the user at `https://receiver.test` or another URL. */
    register: async (person: Person, urlPath = "/hook"): Promise<RegisteredEndpoint> => {
      const url = new URL(urlPath, "https://receiver.test").href;
      const { json } = await call(person, "POST", endpointsPath, { url, name: "Shop" });
      return { id: json.id, secret: json.secret, path: `${endpointsPath}/${json.id}` };
    },
    /** Returns the first page of an endpoint's log. */
    readLog: async (person: Person, endpoint: { path: string }) =>
      (await call(person, "GET", `${endpoint.path}/deliveries`)).json.data,
    publish,
    toKafkaRecord,
    /** Publishes that a link is completed now. By default, it is a new link of the user. */
    publishCompleted: (
      { userId }: { userId: string },
      overrides: Partial<PaymentLinkState> = {},
    ) => {
      const link = sampleLink({ userId, ...overrides });
      const occurredAt = clock.now();
      return publish(
        createOutgoingEvent(linkCompleted, { key: link.id, occurredAt, data: { link } }),
      );
    },
    close: async () => {
      await server.close();
      // Attempts in progress end at their deadline, so the fake clock has to advance.
      const tickInterval = setInterval(() => clock.advance(60_000), 10);
      await Promise.all(started.map((service) => service.stop()));
      clearInterval(tickInterval);
      await testContext.close();
    },
  };
};
export type Rig = Awaited<ReturnType<typeof createRig>>;

export const endpointsPath = "/console/api/webhook-endpoints";

type SignedInPerson = { userId: string; provenAt: Date; mode?: Mode };

const endOfTime = new Date(8.64e15);

const createIntrospect =
  (people: ReadonlyMap<string, SignedInPerson>): RequestIntrospection =>
  ({ hash, kind }) => {
    const person = people.get(hash);
    if (person === undefined) return Promise.resolve({ found: false });
    const { userId, provenAt, mode } = person;
    const id = newId("sess");
    return Promise.resolve({
      found: true,
      account: createSampleAccount({ id: userId }),
      credential: {
        id,
        bucketId: id,
        scopes: kind === "api-key" ? ["payment_link:read"] : [],
        expiresAt: null,
        ...(mode === undefined ? {} : { mode }),
        method: "passkey",
        presence: { provenAt, methods: ["link", "siwe"] },
      },
    });
  };

/** Converts an event to a Kafka record. */
const toKafkaRecord = ({ event, key, occurredAt, data }: OutgoingEvent, id: string) => ({
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

/** The parts of console API responses that tests check. */
const ConsoleResponse = z.looseObject({
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
  const responseJson: unknown = text === "" ? {} : JSON.parse(text);
  assertDocumentedResponse({
    method,
    path: new URL(url).pathname,
    status: response.status,
    json: responseJson,
  });
  const json = ConsoleResponse.parse(responseJson);
  return { status: response.status, json, codes: json.errors.map((error) => error.code) };
};
