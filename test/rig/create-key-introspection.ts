import { hashSecret } from "@payment-links/contracts";
import { createSampleAccount } from "@payment-links/contracts/testing/sample-account";
import type { RequestIntrospection } from "@payment-links/identity";

/** auth-keys as a function: it knows only these API keys, each of an account of its own. */
export const createKeyIntrospection = (apiKeys: readonly string[]): RequestIntrospection => {
  const ids = new Map(
    apiKeys.map((key) => {
      // Processes that are given the same keys use the same names for their buckets.
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
