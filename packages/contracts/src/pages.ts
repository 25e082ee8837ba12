/** The checkout page of a link (spec §2.1). */
export const checkoutPageUrl = (checkoutUrl: string, handle: string, linkId: string): string =>
  `${checkoutUrl}/@${handle}/pay/${linkId}`;

/** The page of a transaction (spec §2.1 `transactionUrl`). */
export const transactionPageUrl = (checkoutUrl: string, transactionId: string): string =>
  `${checkoutUrl}/tx/${transactionId}`;
