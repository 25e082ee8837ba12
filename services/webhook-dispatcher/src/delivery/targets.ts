import { LRUCache } from "lru-cache";
import type { Log } from "@payment-links/runtime";
import { type SecretKeys, openSecret } from "../domain/secret-keys.ts";
import { type EndpointTarget, findTargets } from "../store/endpoints.ts";
import type { Transaction } from "../store/transaction.ts";

/** Where an endpoint's deliveries go and the opened secret that signs them. */
type Target = { url: string; secret: string };

/** Opened targets by endpoint; neither address nor secret ever changes, so an entry never grows old. */
export type Targets = {
  /** The targets of endpoints; one whose secret cannot be opened is not among them. */
  get(tx: Transaction, endpointIds: readonly string[]): Promise<ReadonlyMap<string, Target>>;
};

const cachedMax = 1_000;

/** Opens each endpoint's secret once and keeps it in memory, for at most a thousand endpoints. */
export const createTargets = ({ keys, log }: { keys: SecretKeys; log: Log }): Targets => {
  const cache = new LRUCache<string, Target>({ max: cachedMax });
  const open = ({ id, url, ...sealed }: EndpointTarget): Target | undefined => {
    try {
      return { url, secret: openSecret(keys, sealed, id) };
    } catch (error) {
      log.error({ err: error, endpoint_id: id }, "an endpoint's secret cannot be opened");
      return undefined;
    }
  };
  return {
    get: async (tx, endpointIds) => {
      const found = new Map<string, Target>();
      for (const id of endpointIds) {
        const cached = cache.get(id);
        if (cached !== undefined) found.set(id, cached);
      }
      const missing = endpointIds.filter((id) => !found.has(id));
      if (missing.length === 0) return found;
      for (const row of await findTargets(tx, missing)) {
        const target = open(row);
        if (target === undefined) continue;
        cache.set(row.id, target);
        found.set(row.id, target);
      }
      return found;
    },
  };
};
