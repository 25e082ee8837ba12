import { busMigrations } from "@payment-links/bus";
import type { Service } from "@payment-links/http";
import { type ServiceContext, createService } from "@payment-links/process";
import { type LinksApiConfig, parseSettlementChains, parseTransferChains } from "./config.ts";
import { createDependencies } from "./create-dependencies.ts";
import { watermarkTopics } from "./events/watermark-topics.ts";
import { createEventHandlers } from "./events/event-handlers.ts";
import { createLinkExpiryJob } from "./jobs/link-expiry-job.ts";
import { createIdempotencyKeyCleanupJob } from "./jobs/idempotency-key-cleanup-job.ts";
import { createEventStreamHeartbeatJob } from "./jobs/event-stream-heartbeat-job.ts";
import { createFollowerNotificationJob } from "./jobs/follower-notification-job.ts";
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
): Service & { readEndedLink: ReadEndedLink } => {
  let wakeRelayCallback = () => {};
  const { eventStreamLimits, isSignUpOpen, webhookHeaderPrefix } = config;
  const dependencies = createDependencies(context, {
    settlementChains: parseSettlementChains(config, context.catalogue),
    transferChains: parseTransferChains(config, context.catalogue),
    webhookHeaderPrefix,
    eventStreamLimits,
    isSignUpOpen,
    wakeRelay: () => wakeRelayCallback(),
  });
  const service = createService(context, "links-api", (wakeRelay) => {
    wakeRelayCallback = wakeRelay;
    return {
      publicRoutes: createPublicRoutes(dependencies),
      sendNotFound,
      internalRoutes: [],
      republishSource: linkRepublishSource,
      consumerOptions: { handlers: createEventHandlers(dependencies) },
      watermarkTopics,
      backgroundJobs: [
        createLinkExpiryJob(dependencies),
        createIdempotencyKeyCleanupJob(dependencies),
        createEventStreamHeartbeatJob(dependencies),
        createFollowerNotificationJob(dependencies),
      ],
      drain: () => dependencies.eventStreams.drain(),
      stop: () => dependencies.exports.close(),
    };
  });
  return { ...service, readEndedLink: createReadEndedLink(dependencies) };
};
