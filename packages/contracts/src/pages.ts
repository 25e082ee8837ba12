import { createHash } from "node:crypto";

/** Returns the URL of a link's checkout page (rule API-9). */
export const buildCheckoutPageUrl = (checkoutUrl: string, handle: string, linkId: string): string =>
  `${checkoutUrl}/@${handle}/pay/${linkId}`;

/** Returns the URL of a transaction's page (rule API-10). */
export const buildTransactionPageUrl = (checkoutUrl: string, transactionId: string): string =>
  `${checkoutUrl}/tx/${transactionId}`;

const picturesPath = "/checkout/pictures/";

/** Returns the URL of an uploaded profile picture (rule CALLER-46). */
export const buildPictureUrl = (checkoutUrl: string, digest: string): string =>
  `${checkoutUrl}${picturesPath}${digest}`;

/**
 * Returns the path of an uploaded profile picture, or undefined if the URL is not one of this
 * installation's.
 */
export const findPicturePath = (checkoutUrl: string, imageUrl: string): string | undefined => {
  const prefix = `${checkoutUrl}${picturesPath}`;
  if (!imageUrl.startsWith(prefix)) return undefined;
  const digest = imageUrl.slice(prefix.length);
  return isPictureDigest(digest) ? `${picturesPath}${digest}` : undefined;
};

/** Returns whether a text has the form of a picture's SHA-256 digest. */
export const isPictureDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

const digestLength = 32;

/**
 * Returns the path at which pages show an owner's image (rule API-27). The path contains a digest
 * instead of the URL, so an invented path cannot make the server fetch anything.
 */
export const buildOwnerImagePath = (userId: string, imageUrl: string): string => {
  const digest = createHash("sha256").update(imageUrl).digest("hex").slice(0, digestLength);
  return `/checkout/images/${userId}/${digest}`;
};
