import { type RegisteredHandler, on, onChunk } from "@payment-links/bus";
import {
  linkCompleted,
  linkCreated,
  linkDeactivated,
  linkSnapshot,
  linkTransactionSucceeded,
  ownerImagesSnapshot,
  ownerImagesUpdated,
} from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { storeOwnerImages } from "../store/owner-images.ts";
import { receiveLinks } from "./receive-links.ts";

/** Returns the handlers for `payment-links.v1` (rule EVENT-6) and `owner-images.v1`. */
export const createEventHandlers = (dependencies: Dependencies): readonly RegisteredHandler[] => [
  ...onChunk(
    [linkCreated, linkTransactionSucceeded, linkCompleted, linkDeactivated, linkSnapshot],
    receiveLinks(dependencies),
  ),
  on(ownerImagesUpdated, storeOwnerImages),
  on(ownerImagesSnapshot, storeOwnerImages),
];
