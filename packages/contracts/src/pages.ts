import { createHash } from "node:crypto";

/** Returns the URL of a link's checkout page (rule API-9). */
export const buildCheckoutPageUrl = (checkoutUrl: string, handle: string, linkId: string): string =>
  `${checkoutUrl}/@${handle}/pay/${linkId}`;

/** Returns the URL of a transaction's page (rule API-10). */
export const buildTransactionPageUrl = (checkoutUrl: string, transactionId: string): string =>
  `${checkoutUrl}/tx/${transactionId}`;

const digestLength = 32;

/**
 * Returns the path at which pages show an owner's image (rule API-27). The path contains a digest
 * instead of the URL, so an invented path cannot make the server fetch anything.
 */
export const buildOwnerImagePath = (userId: string, imageUrl: string): string => {
  const digest = createHash("sha256").update(imageUrl).digest("hex").slice(0, digestLength);
  return `/checkout/images/${userId}/${digest}`;
};
