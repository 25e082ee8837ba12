import { buildOwnerImagePath, findPicturePath } from "@payment-links/contracts";

/**
 * Returns the path at which pages show an owner's image, or undefined if they do not show it. Other
 * hosts' images are loaded through this site, so that their host does not learn who the payers are
 * (rule API-27).
 */
export const findImagePath = (
  checkoutUrl: string,
  ownerId: string,
  imageUrl: string | null,
): string | undefined => {
  if (imageUrl === null) return undefined;
  const picturePath = findPicturePath(checkoutUrl, imageUrl);
  if (picturePath !== undefined) return picturePath;
  return imageUrl.startsWith("https://") ? buildOwnerImagePath(ownerId, imageUrl) : undefined;
};
