import { type DeepPages, createDeepPages } from "@payment-links/http";
import type { ServiceContext } from "@payment-links/process";
import type { WebhookDispatcherConfig } from "./config.ts";
import { type Dispatcher, createDispatcher } from "./delivery/create-dispatcher.ts";
import { type ListenerStreams, createListenerStreams } from "./streams/listener-streams.ts";
import { type Targets, createTargets } from "./delivery/prepare-attempts.ts";
import type { ExternalDependencies } from "./guard/external-dependencies.ts";
import type { Resolve } from "./guard/resolver.ts";
import { type UrlRules, getHostname } from "./guard/webhook-url.ts";
import { createImageFetcher } from "./images/fetch-image.ts";
import { type OwnerImages, createOwnerImages } from "./images/owner-images.ts";
import { createVersionJumpCounter } from "./metrics.ts";

/**
 * The dependencies of this service's handlers and jobs: parts of the service context, and what the
 * service creates with it.
 */
export type Dependencies = Pick<ServiceContext, "pool" | "clock" | "log"> &
  Pick<WebhookDispatcherConfig, "headerPrefix" | "logDays" | "schedule" | "secretKeys"> & {
    /** The rules for webhook URLs, at registration and at every attempt. */
    rules: UrlRules;
    resolve: Resolve;
    images: OwnerImages;
    deepPages: DeepPages;
    targets: Targets;
    dispatcher: Dispatcher;
    listenerStreams: ListenerStreams;
    /** Counts a link record whose version does not directly follow the previous one. */
    countVersionJump: () => void;
    /** Notifies the relay that a transaction with events has committed. */
    wakeRelay: () => void;
  };

/** Creates the dependencies. Nothing is sent before the dispatcher is started. */
export const createDependencies = (
  context: ServiceContext,
  config: WebhookDispatcherConfig & ExternalDependencies,
  wakeRelay: () => void,
): Dependencies => {
  const { clock, log, metrics } = context;
  const rules = createUrlRules(context, config);
  const targets = createTargets({ keys: config.secretKeys, rules, log });
  const fetchImage = createImageFetcher({ ...config, rules });
  return {
    ...context,
    ...config,
    rules,
    images: createOwnerImages({ fetchImage, clock, log, metrics }),
    deepPages: createDeepPages({ clock, metrics }),
    targets,
    dispatcher: createDispatcher({ ...context, ...config, targets }),
    listenerStreams: createListenerStreams({ ...context, ...config }),
    countVersionJump: createVersionJumpCounter(metrics),
    wakeRelay,
  };
};

const createUrlRules = (
  { baseUrl, checkoutUrl }: ServiceContext,
  { overrides }: WebhookDispatcherConfig,
): UrlRules => ({
  overriddenHosts: new Set(overrides.keys()),
  ownHosts: new Set([baseUrl, checkoutUrl].map((origin) => getHostname(new URL(origin)))),
});
