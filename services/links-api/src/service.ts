import { busMigrations } from "@payment-links/bus";
import type { Service } from "@payment-links/http";
import { type Ground, createService } from "@payment-links/process";
import { type LinksApiConfig, readSettlementChains, readTransferChains } from "./config.ts";
import { createDeps } from "./create-deps.ts";
import { markedTopics } from "./events/marked-topics.ts";
import { reactions } from "./events/reactions.ts";
import { expireLinks } from "./jobs/expire-links.ts";
import { forgetIdempotencyKeys } from "./jobs/forget-idempotency-keys.ts";
import { keepEventStreams } from "./jobs/keep-event-streams.ts";
import { tellFollowers } from "./jobs/tell-followers.ts";
import { type ReadEndedLink, answerUnknown, createReadEndedLink, publicRoutes } from "./routes.ts";
import { republishLinks } from "./store/links.ts";

export type { ReadEndedLink } from "./routes.ts";
export { linksApiConfig } from "./config.ts";

/** The service's own schema and the files that make it. */
export const linksApiMigration = {
  schema: "links_api",
  folders: [busMigrations, new URL("../migrations/", import.meta.url)],
};

/**
 * Creates links-api: the public API, the console's links, the pages, and the payments that count.
 * Nothing runs before `start`. `readEndedLink` is how a link is paid although it has ended; it is for
 * development in the same process, and no route answers it.
 */
export const createLinksApi = (
  ground: Ground,
  config: LinksApiConfig,
): Service & { readEndedLink: ReadEndedLink } => {
  let relayWaker = () => {};
  const { eventStreamLimits, isSignUpOpen, webhookHeaderPrefix } = config;
  const deps = createDeps(ground, {
    settlementChains: readSettlementChains(config, ground.catalogue),
    transferChains: readTransferChains(config, ground.catalogue),
    webhookHeaderPrefix,
    eventStreamLimits,
    isSignUpOpen,
    wakeRelay: () => relayWaker(),
  });
  const service = createService(ground, "links-api", (wakeRelay) => {
    relayWaker = wakeRelay;
    return {
      publicRoutes: publicRoutes(deps),
      answerUnknown,
      internalRoutes: [],
      republishing: republishLinks,
      hearing: { reactions: reactions(deps) },
      markedTopics,
      jobs: [
        expireLinks(deps),
        forgetIdempotencyKeys(deps),
        keepEventStreams(deps),
        tellFollowers(deps),
      ],
      drain: () => deps.eventStreams.drain(),
      stop: () => deps.exports.close(),
    };
  });
  return { ...service, readEndedLink: createReadEndedLink(deps) };
};
