import { type Reaction, on } from "@payment-links/bus";
import { accountSnapshot, accountUpdated } from "@payment-links/contracts";
import { keepOwnerImages } from "../store/owner-images.ts";

/** What this service does at each type of `accounts.v1`. */
export const accountReactions: readonly Reaction[] = [
  on(accountUpdated, keepOwnerImages),
  on(accountSnapshot, keepOwnerImages),
];
