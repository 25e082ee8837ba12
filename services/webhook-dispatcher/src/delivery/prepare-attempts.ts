import { LRUCache } from "lru-cache";
import type { Db, Pool, Transaction } from "@payment-links/postgres";
import { ConfigError, type Log } from "@payment-links/runtime";
import type { Attempt, Leasing, Delivery, Target } from "../domain/attempt.ts";
import type { Link } from "../domain/link.ts";
import type { Destination } from "../domain/schedule/slots.ts";
import { type SecretKeys, openSecret } from "../domain/secret-keys.ts";
import { type UrlRules, parseWebhookUrl } from "../guard/webhook-url.ts";
import { type EndpointTarget, findTargets, listSecretKeyNames } from "../store/endpoints.ts";

/**
 * The targets of endpoints, with decrypted secrets. A cached target never becomes outdated, because
 * the URL and the secret of an endpoint never change, and neither do the URL rules of a process.
 */
export type Targets = {
  /** Returns the targets of the endpoints. Omits endpoints whose secret cannot be decrypted. */
  get(db: Db, endpointIds: readonly string[]): Promise<ReadonlyMap<string, Target>>;
};

const cachedMax = 1_000;

type TargetsOptions = { keys: SecretKeys; rules: UrlRules; log: Log };

/**
 * Creates the cache of targets, for up to 1,000 endpoints. Checks each URL again, because the rules
 * and overrides may have changed since its registration.
 */
export const createTargets = ({ keys, rules, log }: TargetsOptions): Targets => {
  const cache = new LRUCache<string, Target>({ max: cachedMax });
  const openTarget = ({ id, url, ...sealedSecret }: EndpointTarget): Target | undefined => {
    try {
      const parsedUrl = parseWebhookUrl(url, rules);
      return {
        url: typeof parsedUrl === "string" ? null : parsedUrl,
        secret: openSecret(keys, sealedSecret, id),
      };
    } catch (error) {
      log.error({ err: error, endpoint_id: id }, "could not decrypt endpoint secret");
      return undefined;
    }
  };
  return {
    get: async (db, endpointIds) => {
      const targetsByEndpoint = new Map<string, Target>();
      for (const id of endpointIds) {
        const cached = cache.get(id);
        if (cached !== undefined) targetsByEndpoint.set(id, cached);
      }
      const missing = endpointIds.filter((id) => !targetsByEndpoint.has(id));
      if (missing.length === 0) return targetsByEndpoint;
      for (const row of await findTargets(db, missing)) {
        const target = openTarget(row);
        if (target === undefined) continue;
        cache.set(row.id, target);
        targetsByEndpoint.set(row.id, target);
      }
      return targetsByEndpoint;
    },
  };
};

type LeasedDeliveries = {
  deliveries: readonly Delivery[];
  destinations: readonly Destination[];
  /** The states of the links that the webhooks will contain. */
  links: readonly Link[];
  leaseUntil: Date;
  leasing: Leasing;
};

/** Prepares the attempts of leased deliveries. */
export const prepareAttempts = async (
  tx: Transaction,
  targets: Targets,
  { deliveries, destinations, links, leaseUntil, leasing }: LeasedDeliveries,
): Promise<Attempt[]> => {
  const endpointIds = new Set(deliveries.map(({ endpointId }) => endpointId));
  const targetsByEndpoint = await targets.get(tx, [...endpointIds]);
  const linksById = new Map(links.map((link) => [link.id, link]));
  const destinationByEndpoint = new Map(
    destinations.map((destination) => [destination.endpointId, destination]),
  );
  return deliveries.flatMap((delivery) => {
    const destination = destinationByEndpoint.get(delivery.endpointId);
    if (destination === undefined) return [];
    const link = linksById.get(delivery.linkId);
    const target = targetsByEndpoint.get(delivery.endpointId);
    return { delivery, destination, link, target, leaseUntil, leasing };
  });
};

/**
 * Throws `ConfigError` if stored secrets are encrypted with a key that is not configured.
 * Otherwise, deliveries to their endpoints would fail silently, one by one.
 */
export const assertKnownSecretKeys = async ({
  pool,
  secretKeys,
}: {
  pool: Pool;
  secretKeys: SecretKeys;
}): Promise<void> => {
  const usedKeyNames = await listSecretKeyNames(pool);
  const unknownKeyNames = usedKeyNames.filter((keyName) => !secretKeys.byName.has(keyName));
  if (unknownKeyNames.length === 0) return;
  throw new ConfigError(
    `WEBHOOK_SECRET_KEYS: stored secrets are encrypted with keys that are not listed here, add them: ${unknownKeyNames.join(", ")}`,
  );
};
