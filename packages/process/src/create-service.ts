import {
  type Consumer,
  type ConsumerOptions,
  type Relay,
  type Republishing,
  createRelay,
  replayDeadLetters,
  startConsumer,
  startRepublishing,
} from "@payment-links/bus";
import { sessionServices } from "@payment-links/contracts";
import {
  type AppOptions,
  type InternalRoute,
  type Route,
  type Service,
  cookiePolicy,
  createApp,
} from "@payment-links/http";
import { type Identity, createIdentity } from "@payment-links/identity";
import { ping } from "@payment-links/postgres";
import { type Loop, startLoop } from "@payment-links/runtime";
import { compareClocks } from "./compare-clocks.ts";
import { deadLetterRoutes } from "./dead-letter-routes.ts";
import type { Ground } from "./ground.ts";
import { republishRoutes } from "./republish-routes.ts";

/** What runs in the background, again and again, for as long as its service does. */
export type Job = {
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
  answerUnknown?: AppOptions["answerUnknown"];
  internalRoutes: readonly InternalRoute[];
  /** Who calls; without one, auth-keys is asked. */
  identity?: Identity;
  /** What it does at events; without any it hears none. */
  hearing?: Pick<ConsumerOptions, "reactions" | "pace" | "restMs">;
  jobs?: readonly Job[];
  /** Topics that it alone says, in which others must know up to when they have heard all. */
  markedTopics?: readonly string[];
  /** What operators can have it tell again. */
  republishing?: Republishing;
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
  last?: () => Promise<void>;
};

/**
 * Creates a service: its public app behind limits and callers, its internal routes, and what runs in the
 * background. Nothing runs before `start`. `wire` is told how to wake the relay, once a transaction with
 * events has been committed.
 */
export const createService = (
  ground: Ground,
  name: string,
  wire: (wakeRelay: () => void) => ServiceParts,
): Service => {
  const { bus, clock, databaseUrl, log, metrics, pool } = ground;
  let relay: Relay | undefined;
  let consumer: Consumer | undefined;
  let leaving: Promise<void> | undefined;
  let jobs: readonly Loop[] = [];
  let republisher: Loop | undefined;
  const wakeRelay = () => relay?.wake();
  const leave = () => (leaving ??= consumer?.stop());
  const own = wire(wakeRelay);
  const told = { metrics, log, clock };
  const comparing = compareClocks(ground);
  const { republishing } = own;
  const hearing = own.hearing && { ...own.hearing, pool, group: name, afterCommit: wakeRelay };
  return {
    name,
    metrics,
    app: createPublicApp(ground, name, own),
    publicRoutes: own.publicRoutes,
    internalRoutes: [
      ...own.internalRoutes,
      ...(hearing === undefined
        ? []
        : deadLetterRoutes({
            pool,
            clock,
            log,
            service: name,
            replay: (wanted) => replayDeadLetters({ ...hearing, ...wanted }),
          })),
      ...(republishing === undefined
        ? []
        : republishRoutes({
            what: republishing.what,
            pool,
            clock,
            log,
            asked: () => republisher?.wake(),
          })),
    ],
    isReady: () => ping(pool),
    start: async () => {
      await own.start?.();
      const { markedTopics = [] } = own;
      relay = createRelay({ databaseUrl, bus, service: name, markedTopics, ...told });
      jobs = [...(own.jobs ?? []), comparing].map((job) => startLoop({ ...job, clock, log }));
      republisher =
        republishing &&
        startRepublishing({ pool, republishing, clock, log, afterCommit: wakeRelay });
      if (hearing !== undefined) consumer = await startConsumer({ ...hearing, bus, ...told });
    },
    drain: () => {
      own.drain?.();
      leave()?.catch(() => {});
    },
    stop: async () => {
      const loops = [...jobs, republisher].map((loop) => loop?.stop());
      // The relay goes last, whatever fails before it.
      try {
        await Promise.all([own.stop?.(), leave(), ...loops]);
        await own.last?.();
      } finally {
        await relay?.stop();
      }
    },
  };
};

const createPublicApp = (ground: Ground, name: string, own: ServiceParts) => {
  const { answerUnknown, identity, publicRoutes } = own;
  const { baseUrl, limiter, limits, log, metrics, trustedProxies } = ground;
  const service = sessionServices.find((one) => one === name);
  return createApp({
    routes: publicRoutes,
    answerUnknown,
    gate: {
      limiter,
      limits,
      identity: identity ?? createIdentity({ ...ground, service }),
      cookie: cookiePolicy(baseUrl, service),
    },
    trustedProxies,
    log,
    metrics,
  });
};
