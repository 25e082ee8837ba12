import { busMigrations } from "@payment-links/bus";
import { topics } from "@payment-links/contracts";
import type { Service } from "@payment-links/http";
import { type ServiceContext, createService } from "@payment-links/process";
import type { LinksApiConfig } from "./config.ts";
import { createDependencies } from "./dependencies.ts";
import { applySettlements } from "./events/apply-settlements.ts";
import { createEventHandlers } from "./events/event-handlers.ts";
import { expireLinks } from "./jobs/expire-links.ts";
import { deleteOldIgnoredFields } from "./jobs/delete-ignored-fields.ts";
import { deleteIdempotencyKeys } from "./jobs/delete-idempotency-keys.ts";
import { sendHeartbeats } from "./jobs/send-heartbeats.ts";
import { notifyFollowers } from "./jobs/notify-followers.ts";
import {
  type ReadEndedLink,
  sendNotFound,
  createReadEndedLink,
  createPublicRoutes,
} from "./routes.ts";
import { linkRepublishSource } from "./store/links.ts";

export type { ReadEndedLink } from "./routes.ts";
export { linksApiConfig } from "./config.ts";

/** The service's database schema and its migration folders. */
export const linksApiMigration = {
  schema: "links_api",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates links-api: the public API, the console's API for links, the pages, and the processing of
 * payments. Nothing runs until `start` is called. Development in the same process uses
 * `readEndedLink` to pay links that have ended. It is not available through any route.
 */
export const createLinksApi = (
  context: ServiceContext,
  config: LinksApiConfig,
): Service & { readEndedLink: ReadEndedLink } =>
  createService(context, "links-api", (wakeRelay) => {
    const dependencies = createDependencies(context, config, wakeRelay);
    return {
      publicRoutes: createPublicRoutes(dependencies, applySettlements(dependencies)),
      sendNotFound,
      internalRoutes: [],
      republishSource: linkRepublishSource,
      consumerOptions: { handlers: createEventHandlers(dependencies) },
      // settlement-listener drops a deferred payment whose link is unknown only after it has
      // consumed these topics.
      watermarkTopics: [topics.paymentLinks],
      backgroundJobs: [
        expireLinks(dependencies),
        deleteIdempotencyKeys(dependencies),
        deleteOldIgnoredFields(dependencies),
        sendHeartbeats(dependencies),
        notifyFollowers(dependencies),
      ],
      drain: () => dependencies.eventStreams.drain(),
      stop: () => dependencies.exports.close(),
      directCalls: { readEndedLink: createReadEndedLink(dependencies) },
    };
  });
