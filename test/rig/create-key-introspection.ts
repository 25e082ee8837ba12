import { hashSecret } from "@payment-links/contracts";
import { createSampleAccount } from "@payment-links/contracts/testing/sample-account";
import type { RequestIntrospection } from "@payment-links/identity";

/**
 * Creates a function that replaces auth-keys. It only knows the given API keys. Each key has its
 * own account.
 */
export const createKeyIntrospection = (apiKeys: readonly string[]): RequestIntrospection => {
  const ids = new Map(
    apiKeys.map((key) => {
      // Processes with the same keys must use the same bucket names.
      const hash = hashSecret(key).toString("hex");
      return [hash, `key_${hash.slice(0, 26)}`];
    }),
  );
  return async ({ hash }) => {
    const id = ids.get(hash);
    if (id === undefined) return { found: false };
    return {
      found: true,
      account: createSampleAccount({ handle: "limited" }),
      credential: { id, bucketId: id, scopes: ["payment_link:read"], expiresAt: null },
    };
  };
};
