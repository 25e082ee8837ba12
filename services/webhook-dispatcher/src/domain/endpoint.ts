import { randomBytes } from "node:crypto";
import type { Mode, WebhookEndpointData, endpointOutcomes } from "@payment-links/contracts";

/** The maximum number of endpoints per account and mode, without deleted ones (rule HOOK-1). */
export const endpointsMax = 5;

/** How the last attempt to an endpoint ended. */
export type EndpointOutcome = (typeof endpointOutcomes)[number];

/** An endpoint as its owner sees it, without the secret, which is shown only at creation. */
export type Endpoint = {
  id: string;
  url: string;
  name: string;
  mode: Mode;
  enabled: boolean;
  secretPrefix: string;
  dateCreated: Date;
  lastOutcome: EndpointOutcome | null;
  consecutiveFailures: number;
};

const secretTypePrefix = "whsec_";
const secretBytes = 32;
const visibleDigits = 4;

/** Generates a signing secret: `whsec_` and 256 random bits in hex. */
export const generateSecret = (): string =>
  secretTypePrefix + randomBytes(secretBytes).toString("hex");

/**
 * Returns the part of a secret that the console shows later. It is too short to sign with (rule
 * HOOK-5).
 */
export const secretPrefixOf = (secret: string): string =>
  secret.slice(0, secretTypePrefix.length + visibleDigits);

/** Serializes an endpoint for the console API (rule HOOK-17). */
export const serializeEndpoint = (endpoint: Endpoint): WebhookEndpointData => ({
  id: endpoint.id,
  url: endpoint.url,
  name: endpoint.name,
  mode: endpoint.mode,
  enabled: endpoint.enabled,
  secretPrefix: endpoint.secretPrefix,
  dateCreated: endpoint.dateCreated.toISOString(),
  lastOutcome: endpoint.lastOutcome,
  consecutiveFailures: endpoint.consecutiveFailures,
});
