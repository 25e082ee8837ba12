import { type RegisteredHandler, on } from "@payment-links/bus";
import { ownerImagesSnapshot, ownerImagesUpdated } from "@payment-links/contracts";
import { storeOwnerImages } from "../store/owner-images.ts";

/** The handlers for the event types of `owner-images.v1`. */
export const ownerImageReactions: readonly RegisteredHandler[] = [
  on(ownerImagesUpdated, storeOwnerImages),
  on(ownerImagesSnapshot, storeOwnerImages),
];
