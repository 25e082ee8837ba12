import { createHash } from "node:crypto";

/** The checkout page of a link (rule API-9). */
export const buildCheckoutPageUrl = (checkoutUrl: string, handle: string, linkId: string): string =>
  `${checkoutUrl}/@${handle}/pay/${linkId}`;

/** The page of a transaction (rule API-10). */
export const buildTransactionPageUrl = (checkoutUrl: string, transactionId: string): string =>
  `${checkoutUrl}/tx/${transactionId}`;

const digestLength = 32;

/**
 * Where pages show an owner's image (rule API-27). It names the URL and is none: whoever makes up
 * another path gets nothing fetched.
 */
export const buildOwnerImagePath = (userId: string, imageUrl: string): string => {
  const digest = createHash("sha256").update(imageUrl).digest("hex").slice(0, digestLength);
  return `/checkout/images/${userId}/${digest}`;
};
