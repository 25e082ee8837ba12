import { type IntrospectionAnswer, newId } from "@payment-links/contracts";

type Found = Extract<IntrospectionAnswer, { found: true }>;

/** An answer of auth-keys about a credential of a new account. */
export const sampleAnswer = (expiresAt: Date | null = null): Found => ({
  found: true,
  account: {
    id: newId("user"),
    version: 3,
    handle: "alice",
    username: "Alice",
    dateCreated: new Date("2026-01-02T03:04:05.678Z"),
    profileImage: null,
    bio: null,
    backgroundImage: null,
    backgroundColour: null,
    links: ["https://alice.example"],
    wallets: [],
  },
  credential: {
    id: newId("key"),
    bucketId: newId("key"),
    scopes: ["payment_link:create"],
    expiresAt,
  },
});
