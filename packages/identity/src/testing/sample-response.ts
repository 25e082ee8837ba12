import { type IntrospectionResponse, newId } from "@payment-links/contracts";
import { createSampleAccount } from "@payment-links/contracts/testing/sample-account";

type FoundResponse = Extract<IntrospectionResponse, { found: true }>;

/** Returns a response from auth-keys about a credential of a new account. */
export const createSampleResponse = (expiresAt: Date | null = null): FoundResponse => ({
  found: true,
  account: createSampleAccount({
    version: 3,
    dateCreated: new Date("2026-01-02T03:04:05.678Z"),
    links: ["https://alice.example"],
  }),
  credential: {
    id: newId("key"),
    bucketId: newId("key"),
    scopes: ["payment_link:create"],
    expiresAt,
  },
});
