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

/** What runs in the background, again and again, for as long as its service does. */
export type BackgroundJob = {
  name: string;
  /** How long to wait after a run. */
  waitMs: number;
  /** One run; answers `true` to be run again at once. */
  run: () => Promise<boolean | void>;
};

/** What a service brings; all else is the same in each. */
export type ServiceParts = {
  publicRoutes: readonly Route[];
  /** How it answers an address where nothing is; the error envelope if not given. */
  sendNotFound?: AppOptions["sendNotFound"];
  internalRoutes: readonly InternalRoute[];
  /** Who calls; without one, auth-keys is asked. */
  identity?: Identity;
  /** What it does at events; without any it hears none. */
  consumerOptions?: Pick<ConsumerOptions, "handlers" | "waitForCapacity" | "batchIntervalMs">;
  backgroundJobs?: readonly BackgroundJob[];
  /** Topics that it alone says, in which others must know up to when they have heard all. */
  watermarkTopics?: readonly string[];
  /** What operators can have it tell again. */
  republishSource?: RepublishSource;
  /** Begins what is like nobody else's, before all the rest. What it throws keeps the service from starting. */
  start?: () => Promise<void> | void;
  /**
   * Ends what its callers would hold open, and what others go on with, at the beginning of the stop.
   * What fails then, `stop` tells.
   */
  drain?: () => void;
  /** Ends that again: at once, while the consumer still leaves its group. */
  stop?: () => Promise<void>;
  /** Done once all has ended that could ask for more of it. */
  afterStop?: () => Promise<void>;
};

/**
 * Creates a service: its public app behind limits and callers, its internal routes, and what runs in the
 * background. Nothing runs before `start`. `wire` is told how to wake the relay, once a transaction with
 * events has been committed.
 */
export const createService = (
  context: ServiceContext,
  name: string,
  buildParts: (wakeRelay: () => void) => ServiceParts,
): Service => {
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
  return {
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
      // The relay goes last, whatever fails before it.
      try {
        await Promise.all([parts.stop?.(), stopConsumer(), ...loops]);
        await parts.afterStop?.();
      } finally {
        await relay?.stop();
      }
    },
  };
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
