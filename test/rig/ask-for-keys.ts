import { hashSecret } from "@payment-links/contracts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";
import type { Ask } from "@payment-links/identity";

/** auth-keys as a function: it knows only these API keys, each of an account of its own. */
export const askForKeys = (apiKeys: readonly string[]): Ask => {
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
      account: sampleAccount({ handle: "limited" }),
      credential: { id, bucketId: id, scopes: ["payment_link:read"], expiresAt: null },
    };
  };
};
