import { type RegisteredHandler, on, onChunk } from "@payment-links/bus";
import { linkEvents, ownerImagesSnapshot, ownerImagesUpdated } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { storeOwnerImages } from "../store/owner-images.ts";
import { receiveLinks } from "./receive-links.ts";

/** Returns the handlers for `payment-links.v1` (rule EVENT-6) and `owner-images.v1`. */
export const createEventHandlers = (dependencies: Dependencies): readonly RegisteredHandler[] => [
  ...onChunk(linkEvents, receiveLinks(dependencies)),
  on(ownerImagesUpdated, storeOwnerImages),
  on(ownerImagesSnapshot, storeOwnerImages),
];
