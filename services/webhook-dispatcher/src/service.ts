import { busMigrations } from "@payment-links/bus";
import { type Service, createDeepPages } from "@payment-links/http";
import { type ServiceContext, createService } from "@payment-links/process";
import type { WebhookDispatcherConfig } from "./config.ts";
import { startWebhookDelivery } from "./delivery/start-webhook-delivery.ts";
import type { Dispatcher } from "./delivery/start-dispatcher.ts";
import { createTargets } from "./delivery/targets.ts";
import type { Dependencies } from "./dependencies.ts";
import { linkReactions } from "./events/link-reactions.ts";
import { ownerImageReactions } from "./events/owner-image-reactions.ts";
import {
  type ExternalDependencies,
  createExternalDependencies,
} from "./guard/external-dependencies.ts";
import { type UrlRules, getHostname } from "./guard/webhook-url.ts";
import { createImageFetcher } from "./images/fetch-image.ts";
import { createOwnerImages } from "./images/owner-images.ts";
import { createDeliveryLogRetentionJob } from "./jobs/create-delivery-log-retention-job.ts";
import { assertKnownSecretKeys } from "./jobs/assert-known-secret-keys.ts";
import { createVersionJumpCounter } from "./metrics.ts";
import { createInternalRoutes, createPublicRoutes } from "./routes.ts";

export { type WebhookDispatcherConfig, webhookDispatcherConfig } from "./config.ts";

/** The service's schema and its migration files. */
export const webhookDispatcherMigration = {
  schema: "webhook_dispatcher",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates webhook-dispatcher. It stores endpoints and their secrets, creates deliveries for link
 * events, and sends them until they succeed or fail permanently. It also fetches owners' images.
 * Nothing runs before `start`.
 */
export const createWebhookDispatcher = (
  context: ServiceContext,
  config: WebhookDispatcherConfig,
  externalDependencies: ExternalDependencies = createExternalDependencies(),
): Service =>
  createService(context, "webhook-dispatcher", (wakeRelay) => {
    const { clock, log, metrics, pool } = context;
    const { headerPrefix, schedule, secretKeys } = config;
    const rules = createUrlRules(context, config);
    const targets = createTargets({ keys: secretKeys, rules, log });
    let dispatcher: Dispatcher | undefined;
    const fetchImage = createImageFetcher({ ...config, ...externalDependencies, rules });
    const images = createOwnerImages({ fetchImage, clock, log, metrics });
    const reactions = linkReactions({
      clock,
      targets,
      dispatcher: () => dispatcher,
      firstAttemptDelayMs: schedule[0] ?? 0,
      countVersionJump: createVersionJumpCounter(metrics),
    });
    const stopEndpoint: Dependencies["stopEndpoint"] = (endpointId) =>
      dispatcher?.stopEndpoint(endpointId);
    const { resolve } = externalDependencies;
    const deepPages = createDeepPages({ clock, metrics });
    const serviceDependencies = { rules, resolve, headerPrefix, secretKeys, images, deepPages };
    const dependencies = { pool, clock, log, ...serviceDependencies, stopEndpoint, wakeRelay };
    return {
      publicRoutes: createPublicRoutes(dependencies),
      internalRoutes: createInternalRoutes(dependencies),
      consumerOptions: {
        handlers: [...reactions, ...ownerImageReactions],
        waitForCapacity: async () => dispatcher?.awaitCapacity(),
      },
      backgroundJobs: [createDeliveryLogRetentionJob(dependencies, config)],
      start: async () => {
        await assertKnownSecretKeys(dependencies);
        dispatcher = startWebhookDelivery({
          ...config,
          ...externalDependencies,
          pool,
          clock,
          log,
          metrics,
          targets,
        });
      },
      // Stops the dispatcher at the beginning of the shutdown, while the process still serves
      // requests. Attempts can then end before the process is killed.
      drain: () => void dispatcher?.stop().catch(() => {}),
      stop: async () => {
        images.close();
        await dispatcher?.stop();
      },
      // Stops the dispatcher again, to release the leases of records that were committed after the
      // first stop.
      afterStop: async () => dispatcher?.stop(),
    };
  });

const createUrlRules = (
  { baseUrl, checkoutUrl }: ServiceContext,
  { overrides }: WebhookDispatcherConfig,
): UrlRules => ({
  overriddenHosts: new Set(overrides.keys()),
  ownHosts: new Set([baseUrl, checkoutUrl].map((origin) => getHostname(new URL(origin)))),
});
