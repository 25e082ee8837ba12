import { type Reaction, on } from "@payment-links/bus";
import { ownerImagesSnapshot, ownerImagesUpdated } from "@payment-links/contracts";
import { keepOwnerImages } from "../store/owner-images.ts";

/** What this service does at each type of `owner-images.v1`. */
export const ownerImageReactions: readonly Reaction[] = [
  on(ownerImagesUpdated, keepOwnerImages),
  on(ownerImagesSnapshot, keepOwnerImages),
];
