import { busMigrations } from "@payment-links/bus";
import { type Service, createDeepPages } from "@payment-links/http";
import { type Ground, createService } from "@payment-links/process";
import type { WebhookDispatcherConfig } from "./config.ts";
import { startDelivering } from "./delivery/start-delivering.ts";
import type { Dispatcher } from "./delivery/start-dispatcher.ts";
import { createTargets } from "./delivery/targets.ts";
import type { Deps } from "./deps.ts";
import { linkReactions } from "./events/link-reactions.ts";
import { ownerImageReactions } from "./events/owner-image-reactions.ts";
import { type Outside, openOutside } from "./guard/outside.ts";
import { type UrlRules, hostOf } from "./guard/webhook-url.ts";
import { createImageFetch } from "./images/fetch-image.ts";
import { createOwnerImages } from "./images/owner-images.ts";
import { keepLog } from "./jobs/keep-log.ts";
import { refuseUnknownKeys } from "./jobs/refuse-unknown-keys.ts";
import { createJumpCounter } from "./metrics.ts";
import { internalRoutes, publicRoutes } from "./routes.ts";

export { type WebhookDispatcherConfig, webhookDispatcherConfig } from "./config.ts";

/** The service's own schema and the files that make it. */
export const webhookDispatcherMigration = {
  schema: "webhook_dispatcher",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates webhook-dispatcher: it keeps endpoints and their secrets, turns events of links into
 * deliveries, sends these until they are answered or given up, and fetches owners' images. Nothing runs
 * before `start`.
 */
export const createWebhookDispatcher = (
  ground: Ground,
  config: WebhookDispatcherConfig,
  outside: Outside = openOutside(),
): Service =>
  createService(ground, "webhook-dispatcher", (wakeRelay) => {
    const { clock, log, metrics, pool } = ground;
    const { headerPrefix, schedule, secretKeys } = config;
    const rules = rulesOf(ground, config);
    const targets = createTargets({ keys: secretKeys, rules, log });
    let dispatcher: Dispatcher | undefined;
    const fetchImage = createImageFetch({ ...config, ...outside, rules });
    const images = createOwnerImages({ fetchImage, clock, log, metrics });
    const reactions = linkReactions({
      clock,
      targets,
      dispatcher: () => dispatcher,
      firstWaitMs: schedule[0] ?? 0,
      countVersionJump: createJumpCounter(metrics),
    });
    const leaveEndpoint: Deps["leaveEndpoint"] = (endpointId) => dispatcher?.leave(endpointId);
    const { resolve } = outside;
    const deepPages = createDeepPages({ clock, metrics });
    const own = { rules, resolve, headerPrefix, secretKeys, images, deepPages };
    const deps = { pool, clock, log, ...own, leaveEndpoint, wakeRelay };
    return {
      publicRoutes: publicRoutes(deps),
      internalRoutes: internalRoutes(deps),
      hearing: {
        reactions: [...reactions, ...ownerImageReactions],
        pace: async () => dispatcher?.pace(),
      },
      jobs: [keepLog(deps, config)],
      start: async () => {
        await refuseUnknownKeys(deps);
        dispatcher = startDelivering({ ...config, ...outside, pool, clock, log, metrics, targets });
      },
      // At once, while the process still serves: no attempt may be under way however hard it ends.
      drain: () => void dispatcher?.stop().catch(() => {}),
      stop: async () => {
        images.close();
        await dispatcher?.stop();
      },
      // Again: a record that was committed meanwhile gives back what it had leased.
      last: async () => dispatcher?.stop(),
    };
  });

const rulesOf = (
  { baseUrl, checkoutUrl }: Ground,
  { overrides }: WebhookDispatcherConfig,
): UrlRules => ({
  overriddenHosts: new Set(overrides.keys()),
  ownHosts: new Set([baseUrl, checkoutUrl].map((origin) => hostOf(new URL(origin)))),
});
