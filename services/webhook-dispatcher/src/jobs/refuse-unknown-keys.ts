import { ConfigError } from "@payment-links/runtime";
import type { Deps } from "../deps.ts";
import { listSecretKeyNames } from "../store/endpoints.ts";

/**
 * Throws ConfigError if secrets are sealed under a key that is not configured. Without that key
 * their endpoints would fail one by one, and quietly.
 */
export const refuseUnknownKeys = async ({
  pool,
  secretKeys,
}: Pick<Deps, "pool" | "secretKeys">): Promise<void> => {
  const used = await listSecretKeyNames(pool);
  const unknown = used.filter((keyName) => !secretKeys.byName.has(keyName));
  if (unknown.length === 0) return;
  throw new ConfigError(
    `WEBHOOK_SECRET_KEYS: secrets are sealed under ${unknown.join(", ")}, which is not among the keys`,
  );
};
