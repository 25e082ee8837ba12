import type { DeepPages } from "@payment-links/http";
import type { ServiceContext } from "@payment-links/process";
import type { CreateDeliveriesDependencies } from "./delivery/create-deliveries.ts";
import type { SecretKeys } from "./domain/secret-keys.ts";
import type { Resolve } from "./guard/resolver.ts";
import type { UrlRules } from "./guard/webhook-url.ts";
import type { OwnerImages } from "./images/owner-images.ts";

/**
 * The dependencies of this service's routes: the service context, and what the service creates with
 * it.
 */
export type Dependencies = Pick<ServiceContext, "pool" | "clock" | "log"> & {
  /** The rules for webhook URLs, at registration and at every attempt. */
  rules: UrlRules;
  resolve: Resolve;
  secretKeys: SecretKeys;
  images: OwnerImages;
  deepPages: DeepPages;
  /** The prefix of the names of webhook headers. */
  headerPrefix: string;
  /** Releases the unstarted attempts of an endpoint that was just disabled or deleted. */
  stopEndpoint: (endpointId: string) => void;
  /** Notifies the relay that a transaction with events has committed. */
  wakeRelay: () => void;
};

/** The dependencies of event handlers. */
export type EventDependencies = CreateDeliveriesDependencies & {
  /** Counts a link record whose version does not directly follow the previous one. */
  countVersionJump: () => void;
};
