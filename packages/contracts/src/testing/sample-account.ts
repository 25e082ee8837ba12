import type { Account } from "../account.ts";
import { newId } from "../ids.ts";

/**
 * Creates a new owner's account as auth-keys publishes it. It has no wallet unless the overrides
 * add one.
 */
export const createSampleAccount = (overrides: Partial<Account> = {}): Account => ({
  id: newId("user"),
  version: 1,
  handle: "alice",
  username: "Alice",
  dateCreated: new Date("2026-01-02T03:04:05.000Z"),
  profileImage: null,
  bio: null,
  backgroundImage: null,
  backgroundColour: null,
  links: null,
  wallets: [],
  ...overrides,
});
