import { type IntrospectionAnswer, newId } from "@payment-links/contracts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";

type Found = Extract<IntrospectionAnswer, { found: true }>;

/** An answer of auth-keys about a credential of a new account. */
export const sampleAnswer = (expiresAt: Date | null = null): Found => ({
  found: true,
  account: sampleAccount({
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
