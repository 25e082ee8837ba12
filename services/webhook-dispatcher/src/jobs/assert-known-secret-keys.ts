import { ConfigError } from "@payment-links/runtime";
import type { Dependencies } from "../dependencies.ts";
import { listSecretKeyNames } from "../store/endpoints.ts";

/**
 * Throws `ConfigError` if stored secrets are encrypted with a key that is not configured.
 * Otherwise, deliveries to their endpoints would fail silently, one by one.
 */
export const assertKnownSecretKeys = async ({
  pool,
  secretKeys,
}: Pick<Dependencies, "pool" | "secretKeys">): Promise<void> => {
  const usedKeyNames = await listSecretKeyNames(pool);
  const unknownKeyNames = usedKeyNames.filter((keyName) => !secretKeys.byName.has(keyName));
  if (unknownKeyNames.length === 0) return;
  throw new ConfigError(
    `WEBHOOK_SECRET_KEYS: stored secrets are encrypted with keys that are not listed here, add them: ${unknownKeyNames.join(", ")}`,
  );
};
