import { busMigrations } from "@payment-links/bus";
import type { Service } from "@payment-links/http";
import { type ServiceContext, createService } from "@payment-links/process";
import type { WebhookDispatcherConfig } from "./config.ts";
import { assertKnownSecretKeys } from "./delivery/prepare-attempts.ts";
import { createDependencies } from "./dependencies.ts";
import { createEventHandlers } from "./events/event-handlers.ts";
import {
  type ExternalDependencies,
  createExternalDependencies,
} from "./guard/external-dependencies.ts";
import { endListeners } from "./jobs/end-listeners.ts";
import { pruneDeliveryLog } from "./jobs/prune-delivery-log.ts";
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
    const options = { ...config, ...externalDependencies };
    const dependencies = createDependencies(context, options, wakeRelay);
    const { dispatcher, images, listenerStreams } = dependencies;
    return {
      publicRoutes: createPublicRoutes(dependencies),
      internalRoutes: createInternalRoutes(dependencies),
      consumerOptions: {
        handlers: createEventHandlers(dependencies),
        waitForCapacity: () => dispatcher.awaitCapacity(),
      },
      backgroundJobs: [pruneDeliveryLog(dependencies), endListeners(dependencies)],
      start: async () => {
        await assertKnownSecretKeys(dependencies);
        dispatcher.start();
        listenerStreams.start();
      },
      // Stops the dispatcher at the beginning of the shutdown, while the process still serves
      // requests. Attempts can then end before the process is killed.
      drain: () => {
        listenerStreams.drain();
        dispatcher.stop().catch(() => {});
      },
      stop: async () => {
        images.close();
        await Promise.all([dispatcher.stop(), listenerStreams.stop()]);
      },
      // Stops the dispatcher again, to release the leases of records that were committed after the
      // first stop.
      afterStop: () => dispatcher.stop(),
    };
  });
