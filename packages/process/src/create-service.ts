import {
  type Consumer,
  type ConsumerOptions,
  type Relay,
  type RepublishSource,
  createRelay,
  replayDeadLetters,
  startConsumer,
  startRepublishLoop,
} from "@payment-links/bus";
import { sessionServices } from "@payment-links/contracts";
import {
  type AppOptions,
  type InternalRoute,
  type Route,
  type Service,
  createCookiePolicy,
  createApp,
} from "@payment-links/http";
import { type Identity, createIdentity } from "@payment-links/identity";
import { ping } from "@payment-links/postgres";
import { type Loop, startLoop } from "@payment-links/runtime";
import { createClockComparisonJob } from "./clock-comparison-job.ts";
import { createDeadLetterRoutes } from "./dead-letter-routes.ts";
import type { ServiceContext } from "./service-context.ts";
import { createRepublishRoutes } from "./republish-routes.ts";

/** A job that runs repeatedly in the background while its service runs. */
export type BackgroundJob = {
  name: string;
  /** The pause after a run. */
  waitMs: number;
  /** Performs one run. Returns `true` to run again immediately. */
  run: () => Promise<boolean | void>;
};

/** The parts that differ between services. `createService` adds the rest. */
export type ServiceParts = {
  publicRoutes: readonly Route[];
  /** Sends the response for an unknown path. Default: the error envelope. */
  sendNotFound?: AppOptions["sendNotFound"];
  internalRoutes: readonly InternalRoute[];
  /** Identifies callers. Default: through auth-keys. */
  identity?: Identity;
  /** The event handlers. Without them, the service does not consume events. */
  consumerOptions?: Pick<ConsumerOptions, "handlers" | "waitForCapacity" | "batchIntervalMs">;
  backgroundJobs?: readonly BackgroundJob[];
  /**
   * Topics that only this service publishes and whose consumers need a watermark, that is, the time
   * up to which they have received all events.
   */
  watermarkTopics?: readonly string[];
  /** The resource that operators can republish. */
  republishSource?: RepublishSource;
  /**
   * Starts the service's own part before everything else. If it throws, the service does not start.
   */
  start?: () => Promise<void> | void;
  /**
   * Runs when the process begins to stop. Ends requests that clients would otherwise hold open, and
   * work that other processes continue. `stop` reports a failure of this function.
   */
  drain?: () => void;
  /** Stops the service's own part while the consumer leaves its group. */
  stop?: () => Promise<void>;
  /** Runs after everything that could still use the service has stopped. */
  afterStop?: () => Promise<void>;
};

/**
 * Creates a service with its public app, rate limits, authentication, internal routes and
 * background work. Nothing runs before `start`. `buildParts` receives a function that wakes the
 * relay. Call it after committing a transaction with events. Other services in the same process
 * can call the functions in `directCalls`, which become part of the service.
 */
export const createService = <DirectCalls extends object>(
  context: ServiceContext,
  name: string,
  buildParts: (wakeRelay: () => void) => ServiceParts & { directCalls?: DirectCalls },
): Service & DirectCalls => {
  const { bus, clock, databaseUrl, log, metrics, pool } = context;
  let relay: Relay | undefined;
  let consumer: Consumer | undefined;
  let consumerStopped: Promise<void> | undefined;
  let jobLoops: readonly Loop[] = [];
  let republishLoop: Loop | undefined;
  const wakeRelay = () => relay?.wake();
  const stopConsumer = () => (consumerStopped ??= consumer?.stop());
  const parts = buildParts(wakeRelay);
  const telemetry = { metrics, log, clock };
  const clockComparisonJob = createClockComparisonJob(context);
  const { republishSource } = parts;
  const consumerOptions = parts.consumerOptions && {
    ...parts.consumerOptions,
    pool,
    group: name,
    afterCommit: wakeRelay,
  };
  const service: Service = {
    name,
    metrics,
    app: createPublicApp(context, name, parts),
    publicRoutes: parts.publicRoutes,
    internalRoutes: createInternalRoutes({
      context,
      name,
      parts,
      consumerOptions,
      wakeRepublishLoop: () => republishLoop?.wake(),
    }),
    isReady: () => ping(pool),
    start: async () => {
      await parts.start?.();
      const { watermarkTopics = [] } = parts;
      relay = createRelay({ databaseUrl, bus, service: name, watermarkTopics, ...telemetry });
      jobLoops = [...(parts.backgroundJobs ?? []), clockComparisonJob].map((job) =>
        startLoop({ ...job, clock, log }),
      );
      republishLoop =
        republishSource &&
        startRepublishLoop({ pool, source: republishSource, clock, log, afterCommit: wakeRelay });
      if (consumerOptions !== undefined)
        consumer = await startConsumer({ ...consumerOptions, bus, ...telemetry });
    },
    drain: () => {
      parts.drain?.();
      stopConsumer()?.catch(() => {});
    },
    stop: async () => {
      const loops = [...jobLoops, republishLoop].map((loop) => loop?.stop());
      // The relay stops last, even if an earlier step fails, so that it publishes all events that
      // were committed before.
      try {
        await Promise.all([parts.stop?.(), stopConsumer(), ...loops]);
        await parts.afterStop?.();
      } finally {
        await relay?.stop();
      }
    },
  };
  return Object.assign(service, parts.directCalls);
};

type InternalRoutesOptions = {
  context: ServiceContext;
  name: string;
  parts: ServiceParts;
  consumerOptions: Pick<ConsumerOptions, "pool" | "group" | "handlers" | "afterCommit"> | undefined;
  wakeRepublishLoop: () => void;
};

const createInternalRoutes = ({
  context: { clock, log, pool },
  name,
  parts: { internalRoutes, republishSource },
  consumerOptions,
  wakeRepublishLoop,
}: InternalRoutesOptions): readonly InternalRoute[] => [
  ...internalRoutes,
  ...(consumerOptions === undefined
    ? []
    : createDeadLetterRoutes({
        pool,
        clock,
        log,
        service: name,
        replay: (replayOptions) => replayDeadLetters({ ...consumerOptions, ...replayOptions }),
      })),
  ...(republishSource === undefined
    ? []
    : createRepublishRoutes({
        resource: republishSource.resource,
        pool,
        clock,
        log,
        onRequested: wakeRepublishLoop,
      })),
];

const createPublicApp = (context: ServiceContext, name: string, parts: ServiceParts) => {
  const { sendNotFound, identity, publicRoutes } = parts;
  const { baseUrl, limiter, limits, log, metrics, trustedProxies } = context;
  const service = sessionServices.find((serviceName) => serviceName === name);
  return createApp({
    routes: publicRoutes,
    sendNotFound,
    authorizer: {
      limiter,
      limits,
      identity: identity ?? createIdentity({ ...context, service }),
      cookie: createCookiePolicy(baseUrl, service),
    },
    trustedProxies,
    log,
    metrics,
  });
};
