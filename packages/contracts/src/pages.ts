/** The checkout page of a link (rule API-9). */
export const checkoutPageUrl = (checkoutUrl: string, handle: string, linkId: string): string =>
  `${checkoutUrl}/@${handle}/pay/${linkId}`;

/** The page of a transaction (rule API-10). */
export const transactionPageUrl = (checkoutUrl: string, transactionId: string): string =>
  `${checkoutUrl}/tx/${transactionId}`;
