import type { DeepPages } from "@payment-links/http";
import type { ServiceContext } from "@payment-links/process";
import type { CreateDeliveriesDependencies } from "./delivery/create-deliveries.ts";
import type { SecretKeys } from "./domain/secret-keys.ts";
import type { Resolve } from "./guard/resolver.ts";
import type { UrlRules } from "./guard/webhook-url.ts";
import type { OwnerImages } from "./images/owner-images.ts";

/** What the routes of this service are given: the ground, and what the service made on it. */
export type Dependencies = Pick<ServiceContext, "pool" | "clock" | "log"> & {
  /** What webhook URLs are judged by, at registration and at every attempt. */
  rules: UrlRules;
  resolve: Resolve;
  secretKeys: SecretKeys;
  images: OwnerImages;
  deepPages: DeepPages;
  /** What the names of a webhook's headers begin with. */
  headerPrefix: string;
  /** Begins no further attempt for an endpoint that was just disabled or deleted. */
  stopEndpoint: (endpointId: string) => void;
  /** Tells the relay that a transaction with events has been committed. */
  wakeRelay: () => void;
};

/** What the reactions to events are given. */
export type EventDependencies = CreateDeliveriesDependencies & {
  /** A link's record came whose version is not the next one. */
  countVersionJump: () => void;
};
