import { getDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import * as z from "zod";
import {
  type Consumer,
  type Relay,
  busMigrations,
  createRelay,
  listDeadLetters,
  on,
  createOutgoingEvent,
  publish,
  startConsumer,
} from "@payment-links/bus";
import { newId, topics } from "@payment-links/contracts";
import type { Service } from "@payment-links/http";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import type { ServiceContext } from "../service-context.ts";
import { runProcess } from "../run-process.ts";

const name = "tiny";
const responseDelayMs = 20;
const tinyEvent = { topic: topics.accounts, type: "tiny.told", data: z.object({}) } as const;

/**
 * Creates a service that publishes an event for each request and responds with the event's key
 * after a short delay. It logs its context settings and the events that it receives.
 */
const createTinyService = (context: ServiceContext): Service => {
  const { bus, clock, databaseUrl, log, metrics, pool } = context;
  const { baseUrl, checkoutUrl, limits, trustedProxies } = context;
  // Lets a test trigger an uncaught error.
  process.once("SIGUSR2", () => {
    throw new Error("this error is not caught");
  });
  let relay: Relay | undefined;
  let consumer: Consumer | undefined;
  return {
    name,
    metrics,
    app: (req, res) => {
      req.resume();
      const key = newId("user");
      publish(pool, [createOutgoingEvent(tinyEvent, { key, occurredAt: clock.now(), data: {} })])
        .then(() => injectDelay("slow work", responseDelayMs))
        .then(() => res.end(key))
        .catch((error: unknown) => {
          log.error({ err: error }, "event could not be published");
          res.writeHead(500).end();
        });
    },
    publicRoutes: [],
    internalRoutes: [],
    isReady: async () => (await listDeadLetters({ pool })).length === 0,
    start: async () => {
      log.info({ addressWaitMs: getDefaultAutoSelectFamilyAttemptTimeout() }, "started");
      log.info({ baseUrl, checkoutUrl, limits, trustedProxies }, "settings");
      relay = createRelay({ databaseUrl, bus, service: name, metrics, log, clock });
      const handlers = [
        on(tinyEvent, async (_tx, _data, { key }) => log.info({ account: key }, "event received")),
      ];
      consumer = await startConsumer({ bus, pool, group: name, handlers, metrics, log, clock });
    },
    stop: async () => {
      await consumer?.stop();
      await relay?.stop();
    },
  };
};

await runProcess(
  {
    name,
    config: z.object({}),
    migration: { schema: name, folders: [busMigrations] },
    create: createTinyService,
  },
  process.env,
);
