import { ConfigError } from "@payment-links/runtime";
import type { Dependencies } from "../dependencies.ts";
import { listSecretKeyNames } from "../store/endpoints.ts";

/**
 * Throws `ConfigError` if secrets are sealed with a key that is not configured. Without that key,
 * their endpoints would fail silently, one by one.
 */
export const assertKnownSecretKeys = async ({
  pool,
  secretKeys,
}: Pick<Dependencies, "pool" | "secretKeys">): Promise<void> => {
  const usedKeyNames = await listSecretKeyNames(pool);
  const unknownKeyNames = usedKeyNames.filter((keyName) => !secretKeys.byName.has(keyName));
  if (unknownKeyNames.length === 0) return;
  throw new ConfigError(
    `WEBHOOK_SECRET_KEYS: stored secrets need missing keys, add them: ${unknownKeyNames.join(", ")}`,
  );
};
