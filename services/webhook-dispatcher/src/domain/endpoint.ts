import { randomBytes } from "node:crypto";
import type { WebhookEndpointData, endpointOutcomes } from "@payment-links/contracts";

/** Endpoints that an account may have at once; deleted ones do not count (rule HOOK-1). */
export const endpointsMax = 5;

/** How the last attempt to an endpoint ended. */
export type EndpointOutcome = (typeof endpointOutcomes)[number];

/** An endpoint as its owner sees it; its secret was told once and is not among this. */
export type Endpoint = {
  id: string;
  url: string;
  name: string;
  enabled: boolean;
  secretPrefix: string;
  dateCreated: Date;
  lastOutcome: EndpointOutcome | null;
  consecutiveFailures: number;
};

const secretTypePrefix = "whsec_";
const secretBytes = 32;
const visibleDigits = 4;

/** Makes a signing secret: `whsec_` and 256 random bits in hex. */
export const generateSecret = (): string =>
  secretTypePrefix + randomBytes(secretBytes).toString("hex");

/** What the console may show of a secret later: too little to sign with (rule HOOK-5). */
export const secretPrefixOf = (secret: string): string =>
  secret.slice(0, secretTypePrefix.length + visibleDigits);

/** An endpoint as the console API answers it (rule HOOK-17). */
export const serializeEndpoint = (endpoint: Endpoint): WebhookEndpointData => ({
  id: endpoint.id,
  url: endpoint.url,
  name: endpoint.name,
  enabled: endpoint.enabled,
  secretPrefix: endpoint.secretPrefix,
  dateCreated: endpoint.dateCreated.toISOString(),
  lastOutcome: endpoint.lastOutcome,
  consecutiveFailures: endpoint.consecutiveFailures,
});
